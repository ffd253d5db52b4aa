// The small chat model that comes with this package, so that a first program needs no download.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the demo model: a Llama of 4.8 million parameters for a narrow domain; its model card is beside it. */
export const demoModel = dirname(fileURLToPath(import.meta.resolve('@ortler/demo-model/package.json')));
