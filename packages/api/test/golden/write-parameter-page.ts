// Writes docs/chat-parameters.md.
// Run: node --conditions=@ortler/source packages/api/test/golden/write-parameter-page.ts

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderParameterPage } from '../../src/chat/parameter-page.ts';

writeFileSync(join(import.meta.dirname, '../../../../docs/chat-parameters.md'), renderParameterPage());
