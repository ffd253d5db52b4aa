// Main module of the child process that runs a model; started by process-link.ts.

import { loadCore } from '../core/load-core.ts';
import { serveProcess } from './serve-process.ts';

await serveProcess(loadCore);
