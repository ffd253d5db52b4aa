// The main function of the thread of a `KillableWorker`: serves one task after the other and sends expected errors back as data.

import { parentPort, type Transferable } from 'node:worker_threads';
import type { WorkerReply, WorkerRequest } from './killable-worker.ts';
import { ownsBuffer } from './owns-buffer.ts';

/** A class of errors with a code, which a task throws to refuse its input. */
export type RefusalClass = abstract new (...args: never[]) => Error & { readonly code: string };

/**
 * Only code and message of a `Refusal` cross the thread; any other error ends it. A result of numbers or bytes is moved, not copied, so the
 * task must not keep it.
 */
export function serveTasks<Input>(run: (input: Input) => unknown, Refusal: RefusalClass): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs in a worker thread only.');
  const reply = (message: WorkerReply, transfer: readonly Transferable[] = []): void =>
    port.postMessage(message, transfer);
  port.on('message', ({ input, begun }: WorkerRequest<Input>) => {
    Atomics.store(begun, 0, 1);
    reply({ kind: 'started' });
    try {
      const result = run(input);
      reply({ kind: 'done', result }, memoryOf(result));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply({ kind: 'failed', code: error.code, message: error.message });
    }
  });
}

/** The ids of a long text are megabytes, which the event loop of the caller would copy. */
function memoryOf(result: unknown): ArrayBuffer[] {
  return ArrayBuffer.isView(result) && ownsBuffer(result) ? [result.buffer] : [];
}
