// The main function of a killable worker: one task after the other, errors sent back as data.

import { parentPort } from 'node:worker_threads';
import { EngineError } from '../errors.ts';
import type { WorkerReply } from './killable-worker.ts';

export function serveTasks<Input>(run: (input: Input) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs in a worker thread only.');
  const reply = (message: WorkerReply): void => port.postMessage(message);
  port.on('message', (input: Input) => {
    reply({ kind: 'started' });
    try {
      reply({ kind: 'done', result: run(input) });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      reply({ kind: 'failed', code: error.code, message: error.message });
    }
  });
}
