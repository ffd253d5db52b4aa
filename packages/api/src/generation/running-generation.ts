// One generation on an engine, read event by event: each event is observed, each failure becomes one of the wire. Chats
// and completions share it. Starting waits for the first event, so refusals are thrown before a transport sends a status
// line.

import type { Engine, GenerationEvent, GenerationRequest } from '@ortler/engine';
import { GenerationObserver, type ObservedGeneration } from './generation-observer.ts';

export interface GenerationStart extends Omit<ObservedGeneration, 'choiceCount' | 'maxTokens'> {
  readonly engine: Pick<Engine, 'generate'>;
  readonly signal: AbortSignal;
  /** Maps a thrown value of the engine to the wire. */
  readonly toApiError: (error: unknown) => unknown;
  /** Called once, when the generation ends, fails or is left. */
  readonly onEnd?: () => void;
}

type Step = IteratorResult<GenerationEvent, void>;

export class RunningGeneration implements AsyncIterable<GenerationEvent> {
  readonly #events: AsyncIterator<GenerationEvent, void>;
  readonly #observer: GenerationObserver;
  readonly #start: GenerationStart;
  #first: Step | undefined;
  #isOver = false;

  private constructor(request: GenerationRequest, start: GenerationStart) {
    this.#events = start.engine.generate(request, { signal: start.signal })[Symbol.asyncIterator]();
    this.#observer = new GenerationObserver({
      ...start,
      choiceCount: request.choiceCount ?? 1,
      maxTokens: request.stop?.maxTokens ?? null,
    });
    this.#start = start;
  }

  /** Throws: every refusal of the request. */
  static async start(request: GenerationRequest, start: GenerationStart): Promise<RunningGeneration> {
    const generation = new RunningGeneration(request, start);
    generation.#first = await generation.#read();
    return generation;
  }

  /** The next event; the first one again, on which the start waited. Throws: `ApiError` when the engine fails. */
  async next(): Promise<Step> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#read();
  }

  /** Leaves the generation, which aborts it unless it is over. */
  async return(): Promise<IteratorReturnResult<void>> {
    this.#first = undefined;
    try {
      await this.#events.return?.();
    } finally {
      this.#end(() => this.#observer.end());
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #read(): Promise<Step> {
    try {
      const step = await this.#events.next();
      if (step.done === true) this.#end(() => this.#observer.end());
      else this.#observer.push(step.value);
      return step;
    } catch (error) {
      this.#end(() => this.#observer.fail(error));
      throw this.#start.toApiError(error);
    }
  }

  #end(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
    this.#start.onEnd?.();
  }
}
