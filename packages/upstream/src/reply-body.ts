// The body of an answer, piece by piece and as fast as its reader takes it. Pieces come by events, which cost a fraction of what an
// async iterator of a stream does for each of them.

import type { IncomingMessage } from 'node:http';
import { UpstreamError } from './upstream-error.ts';

export interface ReplyBodyOptions {
  /** For messages. */
  readonly host: string;
  /** Longest wait for a piece. Unit: milliseconds. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** As much is taken from the connection before it is asked for. */
const MAX_WAITING_BYTES = 65_536;

export class ReplyBody {
  readonly #incoming: IncomingMessage;
  readonly #options: ReplyBodyOptions;
  /** Came before they were asked for. */
  readonly #pieces: Buffer[] = [];
  #waitingBytes = 0;
  #reader: PromiseWithResolvers<Buffer | null> | undefined;
  #silence: NodeJS.Timeout | undefined;
  #state: 'open' | 'ended' | 'failed' = 'open';
  #isLeft = false;
  #failure: unknown;

  /** To be called before the answer's first piece can come: in its event. */
  constructor(incoming: IncomingMessage, options: ReplyBodyOptions) {
    this.#incoming = incoming;
    this.#options = options;
    const { host, signal } = options;
    const onAbort = () => incoming.destroy(signal.reason);
    const close = (state: 'ended' | 'failed', failure?: unknown) => {
      signal.removeEventListener('abort', onAbort);
      this.#close(state, failure);
    };
    const broken = (cause?: unknown) =>
      new UpstreamError('broken', `${host} ended the connection within its answer.`, { cause });
    incoming
      .on('data', (piece: Buffer) => this.#add(piece))
      .once('end', () => close('ended'))
      .on('error', error => close('failed', error instanceof UpstreamError ? error : broken(error)))
      // Also comes after the end, and an error with its stack costs as much as reading a small answer.
      .once('close', () => {
        if (this.#state === 'open') close('failed', broken());
      });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  }

  /**
   * The next piece; null after the last. One call at a time.
   * Throws: `UpstreamError` `silent` or `broken`, or the reason of the signal.
   */
  read(): Promise<Buffer | null> {
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      this.#waitingBytes -= piece.length;
      return Promise.resolve(piece);
    }
    if (this.#state === 'ended') return Promise.resolve(null);
    if (this.#state === 'failed') return Promise.reject(this.#reason());
    this.#reader = Promise.withResolvers();
    this.#incoming.resume();
    this.#startSilence();
    return this.#reader.promise;
  }

  /** Ends the reading. Before the answer's end this ends the connection, and with it the server's work; else the connection is kept. */
  leave(): void {
    this.#isLeft = true;
    this.#pieces.length = 0;
    if (this.#incoming.complete) this.#incoming.resume();
    else this.#incoming.destroy();
  }

  #add(piece: Buffer): void {
    if (this.#isLeft) return;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) {
      reader.resolve(piece);
      return;
    }
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes >= MAX_WAITING_BYTES) this.#incoming.pause();
  }

  #close(state: 'ended' | 'failed', failure: unknown): void {
    if (this.#state !== 'open') return;
    this.#state = state;
    this.#failure = failure;
    clearTimeout(this.#silence);
    if (state === 'ended') this.#reader?.resolve(null);
    else this.#reader?.reject(this.#reason());
    this.#reader = undefined;
  }

  #reason(): unknown {
    const { signal } = this.#options;
    return signal.aborted ? signal.reason : this.#failure;
  }

  /** One timer for all waits. It goes on while nobody waits, and then means nothing. */
  #startSilence(): void {
    const { host, silenceMs } = this.#options;
    if (this.#silence !== undefined) this.#silence.refresh();
    else
      this.#silence = setTimeout(() => {
        const reader = this.#reader;
        // After a long turn of the event loop timers come first, so what has arrived meanwhile is read before it is called silence.
        setImmediate(() => {
          if (reader === undefined || this.#reader !== reader) return;
          this.#incoming.destroy(new UpstreamError('silent', `${host} sent nothing for ${silenceMs} ms.`));
        });
      }, silenceMs);
  }
}
