// Writes docs/models.md:  node packages/model-builder/test/write-models-page.ts

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelsPage, PAGE } from './models-page.ts';

await writeFile(join(import.meta.dirname, '../../..', PAGE), modelsPage());
