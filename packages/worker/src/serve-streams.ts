// The main function of the thread of a `StreamWorker`.

import { type MessagePort, parentPort, type Transferable } from 'node:worker_threads';
import type { StreamMessage, StreamReply, StreamRequest } from './stream-worker.ts';

export interface StreamResult {
  /** Plain data. */
  readonly result: unknown;
  /** What of it moves to the caller instead of being copied. */
  readonly transfer?: readonly Transferable[];
}

/**
 * Answers each stream with what `read` returns or throws, an error with fields of plain data. The signal fires when the caller has left.
 */
export function serveStreams<Input>(
  read: (input: Input, body: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<StreamResult>,
): void {
  const toCaller = parentPort;
  if (toCaller === null) throw new Error('This module runs in a worker thread only.');
  toCaller.on('message', async ({ input, port }: StreamRequest<Input>) => {
    const stream = new Stream(port);
    const reply = (message: StreamReply, transfer: readonly Transferable[] = []) =>
      port.postMessage(message, transfer);
    try {
      const { result, transfer } = await read(input, stream.parts(), stream.signal);
      reply({ kind: 'done', result }, transfer);
    } catch (error) {
      reply({ kind: 'failed', error, fields: { ...(error as object) } });
    }
  });
}

/** What has come of one stream. */
class Stream {
  readonly #port: MessagePort;
  readonly #left = new AbortController();
  readonly #parts: Uint8Array[] = [];
  #isComplete = false;
  #wake: () => void = () => undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: StreamMessage) => {
      if (message.kind === 'part') this.#parts.push(message.bytes);
      else this.#isComplete = true;
      this.#wake();
    });
    port.once('close', () => {
      this.#left.abort();
      this.#wake();
    });
  }

  /** Fires when the caller is gone. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Throws: the reason of the signal. */
  async *parts(): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.signal.throwIfAborted();
      const part = this.#parts.shift();
      if (part !== undefined) {
        this.#port.postMessage({ kind: 'taken', byteCount: part.length } satisfies StreamReply);
        yield part;
      } else if (this.#isComplete) return;
      else
        await new Promise<void>(resolve => {
          this.#wake = resolve;
        });
    }
  }
}
