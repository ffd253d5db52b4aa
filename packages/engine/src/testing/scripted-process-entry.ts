// Main module of a child process with a scripted token side; for tests.

import { serveProcess } from '../link/serve-process.ts';
import { loadScriptedCore } from './scripted-core.ts';

console.error('scripted model process started');
await serveProcess(loadScriptedCore({ vocabSize: 1024, delayMs: 2 }));
