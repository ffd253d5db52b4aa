// The chunks of a streamed answer of an upstream server, one at a time and as fast as they are read. Counts are taken from them
// whether the caller wants to see them or not.

import type { TokenUsage } from '@ortler/engine';
import type { EventSource } from '../generation/closing-stream.ts';
import { findError, fromUpstreamError } from './from-upstream-error.ts';
import {
  choicesOf,
  completeChunk,
  type Fields,
  hasText,
  parseChunk,
  type ReplyNames,
  type ReplyShape,
} from './reply-shape.ts';
import { outcomeOf, type UpstreamReport } from './upstream-report.ts';
import { readUsage } from './upstream-usage.ts';

export interface UpstreamChunksOptions {
  /** The data of each event. */
  readonly events: AsyncIterableIterator<string, void>;
  readonly names: ReplyNames;
  readonly shape: ReplyShape;
  /** Whether the caller asked for usage. */
  readonly withUsage: boolean;
  readonly report: UpstreamReport;
  readonly withoutKey: (text: string) => string;
  readonly signal: AbortSignal;
}

type Step = IteratorResult<Fields, void>;

export class UpstreamChunks implements EventSource<Fields> {
  readonly #options: UpstreamChunksOptions;
  #first: Step | undefined;

  private constructor(options: UpstreamChunksOptions) {
    this.#options = options;
  }

  /** Waits for the first chunk. Throws: as `next`. */
  static async start(options: UpstreamChunksOptions): Promise<UpstreamChunks> {
    const chunks = new UpstreamChunks(options);
    chunks.#first = await chunks.#read();
    return chunks;
  }

  /** After the last chunk: the usage of the whole answer; see `UpstreamReport`. */
  get usage(): TokenUsage {
    return this.#options.report.usage;
  }

  /** Throws: `ApiError` when a server fails, the caller leaves or this server stops. */
  next(): Promise<Step> {
    const first = this.#first;
    this.#first = undefined;
    return first === undefined ? this.#read() : Promise.resolve(first);
  }

  /** Leaves the answer, which ends it on the server too. */
  async return(): Promise<IteratorReturnResult<void>> {
    this.#first = undefined;
    const { events, report } = this.#options;
    await events.return?.();
    await report.end('aborted');
    return { done: true, value: undefined };
  }

  async #read(): Promise<Step> {
    const { events, report, names, signal, withoutKey } = this.#options;
    try {
      for (;;) {
        const step = await events.next();
        if (step.done === true) {
          await report.end('finished');
          return step;
        }
        const chunk = parseChunk(step.value);
        const failure = findError(chunk, names.model, withoutKey);
        if (failure !== undefined) throw failure;
        if (this.#prepare(chunk)) return { done: false, value: chunk };
      }
    } catch (error) {
      await events.return?.();
      await report.end(outcomeOf(error, signal));
      throw fromUpstreamError(error, names.model, signal);
    }
  }

  /** Mutates: the chunk. False: it held only counts that the caller did not ask for. */
  #prepare(chunk: Fields): boolean {
    const { names, shape, withUsage, report } = this.#options;
    completeChunk(chunk, names, shape);
    const choices = choicesOf(chunk);
    for (const choice of choices) {
      if (hasText(choice, shape)) report.text(typeof choice.index === 'number' ? choice.index : 0);
      if (typeof choice.finish_reason === 'string') report.finish(choice.finish_reason);
    }
    const usage = readUsage(chunk.usage);
    if (usage !== undefined) report.tell(usage);
    if (withUsage || chunk.usage == null) return true;
    // Chunks of completions have the field always, those of chats only where it was asked for.
    if ('usage' in shape.chunkDefaults) chunk.usage = null;
    else delete chunk.usage;
    return choices.length > 0;
  }
}
