// The main function of the thread of a `KillableWorker`: serves one task after the other and sends expected errors back as data.

import { parentPort } from 'node:worker_threads';
import type { WorkerReply, WorkerRequest } from './killable-worker.ts';

/** A class of errors with a code, which a task throws to refuse its input. */
export type RefusalClass = abstract new (...args: never[]) => Error & { readonly code: string };

/** Only code and message of a `Refusal` cross the thread; any other error ends it. */
export function serveTasks<Input>(run: (input: Input) => unknown, Refusal: RefusalClass): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs in a worker thread only.');
  const reply = (message: WorkerReply): void => port.postMessage(message);
  port.on('message', ({ input, begun }: WorkerRequest<Input>) => {
    Atomics.store(begun, 0, 1);
    reply({ kind: 'started' });
    try {
      reply({ kind: 'done', result: run(input) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply({ kind: 'failed', code: error.code, message: error.message });
    }
  });
}
