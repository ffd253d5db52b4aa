// Reads streams of bytes in a worker thread with a heap of its own: many at once, each no further ahead than the thread can follow. For
// bodies whose objects would keep the garbage collector of the event loop's thread busy.

import { MessageChannel, type MessagePort, type Transferable, Worker } from 'node:worker_threads';
import type { EntryModule } from './entry-module.ts';
import { WorkerError } from './errors.ts';
import { ownsBuffer } from './owns-buffer.ts';

/** Messages to the thread about one stream, over a port of its own; it closes when the caller has its answer or has left. */
export type StreamMessage =
  | { readonly kind: 'part'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end' };

/** Messages from the thread. */
export type StreamReply =
  | { readonly kind: 'taken'; readonly byteCount: number }
  | { readonly kind: 'done'; readonly result: unknown }
  /** The class of an error is lost on its way, and so are its fields, which come beside it. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly fields: object };

/** The message that opens a stream. */
export interface StreamRequest<Input> {
  readonly input: Input;
  readonly port: MessagePort;
}

/** Most bytes of a stream that the thread has not taken. */
const AHEAD_BYTES = 256 * 1024;
/** Smaller parts are joined: a client may send a body byte by byte, and a message takes as long as some thousand bytes. */
const MESSAGE_BYTES = 16 * 1024;

/** One thread, started with the first stream and again after it has ended. An idle one keeps no process alive. */
export class StreamWorker<Input, Result> {
  readonly #entry: EntryModule;
  #worker: Worker | null = null;
  #isClosed = false;

  constructor(entry: EntryModule) {
    this.#entry = entry;
  }

  /**
   * Hands a stream to the thread, which takes the memory of its parts. A result that comes before its end ends the reading of `body`.
   * Throws: what `body` throws; the reason of the signal; `WorkerError` `closed` or `crashed`; what the thread throws, as an `Error` with
   * the fields of its class.
   */
  async run(input: Input, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closed();
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const { port1: port, port2: far } = new MessageChannel();
    const answer = Promise.withResolvers<Result>();
    const flow = new Flow();
    port.on('message', (reply: StreamReply) => {
      if (reply.kind === 'taken') flow.take(reply.byteCount);
      else if (reply.kind === 'done') answer.resolve(reply.result as Result);
      else answer.reject(withFields(reply.error, reply.fields));
    });
    port.once('close', () => {
      if (flow.isOver) return;
      // The thread has ended. Its own event comes when its heap is freed, which may take seconds.
      this.#forget(worker);
      answer.reject(
        this.#isClosed ? closed() : new WorkerError('crashed', 'The thread of the stream has ended.'),
      );
    });
    const onAbort = () => answer.reject(signal!.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const request: StreamRequest<Input> = { input, port: far };
    worker.postMessage(request, [far]);
    send(body, port, flow).catch(answer.reject);
    try {
      return await answer.promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      flow.end();
      port.close();
    }
  }

  /** Ends the thread with all its streams. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#entry.url, { execArgv: [...this.#entry.execArgv], env: {} });
    worker.unref();
    // Its streams learn it from their ports, which close with the thread.
    worker.on('error', () => this.#forget(worker));
    worker.on('exit', () => this.#forget(worker));
    return worker;
  }

  #forget(worker: Worker): void {
    if (worker === this.#worker) this.#worker = null;
  }
}

/** How far the sender is ahead of the thread. */
class Flow {
  isOver = false;
  #aheadBytes = 0;
  #resume: () => void = () => undefined;

  take(byteCount: number): void {
    this.#aheadBytes -= byteCount;
    if (this.#aheadBytes < AHEAD_BYTES) this.#resume();
  }

  end(): void {
    this.isOver = true;
    this.#resume();
  }

  /** Waits until the thread has taken enough. */
  async add(byteCount: number): Promise<void> {
    this.#aheadBytes += byteCount;
    if (this.isOver || this.#aheadBytes < AHEAD_BYTES) return;
    await new Promise<void>(resolve => {
      this.#resume = resolve;
    });
  }
}

async function send(body: AsyncIterable<Uint8Array>, port: MessagePort, flow: Flow): Promise<void> {
  const post = (message: StreamMessage, transfer: Transferable[] = []) => port.postMessage(message, transfer);
  let parts: Uint8Array[] = [];
  let length = 0;
  const postParts = async () => {
    const byteCount = length;
    const bytes = parts.length === 1 && ownsBuffer(parts[0]!) ? parts[0] : join(parts, length);
    post({ kind: 'part', bytes }, [bytes.buffer]);
    parts = [];
    length = 0;
    await flow.add(byteCount);
  };
  for await (const part of body) {
    if (flow.isOver) return;
    parts.push(part);
    length += part.length;
    if (length < MESSAGE_BYTES) continue;
    await postParts();
    if (flow.isOver) return;
  }
  if (length > 0) await postParts();
  post({ kind: 'end' });
}

/** A copy: parts may be views of buffers that others use. */
function join(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

function withFields(error: unknown, fields: object): unknown {
  return error instanceof Error ? Object.assign(error, fields) : error;
}

function closed(): WorkerError {
  return new WorkerError('closed', 'The worker was closed.');
}
