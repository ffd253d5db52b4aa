// Main module of a worker thread with a scripted token side; for tests.

import { serveWorker } from '../link/serve-worker.ts';
import { loadScriptedCore } from './scripted-core.ts';

await serveWorker(loadScriptedCore({ vocabSize: 1024, delayMs: 2 }));
