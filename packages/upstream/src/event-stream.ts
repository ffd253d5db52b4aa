// Server-sent events of a completion: bytes in any pieces become the text of each `data:` field, as it was sent. The stream holds
// its server until it ends, fails or is left.

import type { ReplyBody } from './reply-body.ts';
import type { Lease } from './server-pool.ts';
import { UpstreamError } from './upstream-error.ts';

const DONE = '[DONE]';
/** Longest event. A server that sends more without an end of line, or without the empty line after an event, does not speak this protocol. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;
/** An empty line takes memory and time, too. */
const LINE_COST = 64;

export interface EventStreamOptions {
  readonly body: ReplyBody;
  readonly lease: Lease;
  /** What a failure of the stream says of its server. */
  readonly outcomeOf: (error: unknown) => Parameters<Lease['end']>[0];
}

export class EventStream implements AsyncIterableIterator<string, void> {
  readonly #options: EventStreamOptions;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** Events that came and were not taken. */
  readonly #events: string[] = [];
  /** The end of what came, a line without its end, in pieces: a long one is joined once. */
  #rest: string[] = [];
  #restLength = 0;
  /** Lines of an event without its end. */
  #data: string[] = [];
  #dataLength = 0;
  /** `[DONE]` came, or the stream was left. */
  #isDone = false;
  #hasEnded = false;

  private constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Waits for the first event. Throws: as `next`; then the lease is still the caller's. */
  static async start(options: EventStreamOptions): Promise<EventStream> {
    const stream = new EventStream(options);
    await stream.#fill();
    return stream;
  }

  /**
   * The data of the next event up to `[DONE]`, which is left out. Comments and other fields are left out too.
   * Throws: `UpstreamError` `broken` when the bytes end before `[DONE]`, `invalid_reply` for bytes that are not events; errors of the body.
   */
  async next(): Promise<IteratorResult<string, void>> {
    try {
      if (this.#events.length === 0) await this.#fill();
    } catch (error) {
      this.#end(this.#options.outcomeOf(error));
      throw error;
    }
    const value = this.#events.shift();
    if (value !== undefined) return { done: false, value };
    this.#end('succeeded');
    return { done: true, value: undefined };
  }

  /** Ends the request, also before the first event was taken. */
  async return(): Promise<IteratorResult<string, void>> {
    this.#isDone = true;
    this.#events.length = 0;
    this.#options.body.leave();
    this.#end('left');
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Reads until there is an event, or the last one was taken. Leaves the body where it throws. */
  async #fill(): Promise<void> {
    const { body } = this.#options;
    try {
      while (this.#events.length === 0 && !this.#isDone) {
        const piece = await body.read();
        if (piece === null) this.#endOfBytes();
        else this.#add(decode(this.#decoder, piece));
      }
    } catch (error) {
      body.leave();
      if (!this.#isDone) throw error;
    }
    // What may come after the last event is not waited for.
    if (this.#isDone) body.leave();
  }

  /** Throws: `broken`, unless the last event lacks only the end of its line, or the empty line after it. */
  #endOfBytes(): void {
    this.#add('\n\n');
    if (this.#isDone) return;
    this.#events.length = 0;
    throw new UpstreamError('broken', 'The stream ended before its last event.');
  }

  #add(text: string): void {
    // Bytes of a character that is not complete.
    if (text === '') return;
    const followsReturn = this.#rest.at(-1)?.endsWith('\r') === true;
    this.#rest.push(text);
    this.#restLength += text.length;
    if (this.#restLength > MAX_EVENT_LENGTH) throw new UpstreamError('invalid_reply', 'An event has no end.');
    if (!followsReturn && !/[\r\n]/.test(text)) return;
    // A carriage return at the end may belong to a line feed that has not come yet.
    const lines = this.#rest.join('').split(/\r\n|\n|\r(?!$)/);
    const rest = lines.pop()!;
    this.#rest = [rest];
    this.#restLength = rest.length;
    for (const line of lines) {
      if (line !== '') {
        if (/^data(:|$)/.test(line)) this.#addData(line.replace(/^data:? ?/, ''));
        continue;
      }
      if (this.#data.length === 0) continue;
      const event = this.#data.join('\n');
      this.#data = [];
      this.#dataLength = 0;
      if (event === DONE) {
        this.#isDone = true;
        return;
      }
      this.#events.push(event);
    }
  }

  #addData(line: string): void {
    this.#dataLength += line.length + LINE_COST;
    if (this.#dataLength > MAX_EVENT_LENGTH) throw new UpstreamError('invalid_reply', 'An event has no end.');
    this.#data.push(line);
  }

  #end(outcome: Parameters<Lease['end']>[0]): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.lease.end(outcome);
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, piece: Uint8Array): string {
  try {
    return decoder.decode(piece, { stream: true });
  } catch (error) {
    throw new UpstreamError('invalid_reply', 'The stream is not UTF-8.', { cause: error });
  }
}
