// Main module of the worker thread that runs a model; started by worker-link.ts.

import { loadCore } from '../core/load-core.ts';
import { serveWorker } from './serve-worker.ts';

await serveWorker(loadCore);
