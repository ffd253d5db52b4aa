// The main function of a worker thread that runs a token side.

import { parentPort } from 'node:worker_threads';
import { CoreLoop, type LoadCore } from './core-loop.ts';

export async function serveWorker(load: LoadCore): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('This module runs in a worker thread only.');
  const loop = new CoreLoop(load, message => port.postMessage(message));
  port.on('message', message => loop.receive(message));
  await loop.run();
  port.close();
}
