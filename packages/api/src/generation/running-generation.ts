// One generation on an engine, read event by event: each event is observed, each failure becomes one of the wire. Chats
// and completions share it. Starting waits for the first event, so refusals are thrown before a transport sends a status
// line.

import type { Engine, GenerationEvent, GenerationRequest } from '@ortler/engine';
import type { Services } from '../ports/services.ts';
import { shareOf } from '../team.ts';
import { GenerationObserver, type ObservedGeneration } from './generation-observer.ts';
import { GenerationUsage, type UsingCaller } from './generation-usage.ts';

export interface GenerationStart extends Omit<ObservedGeneration, 'choiceCount' | 'maxTokens'> {
  readonly services: Pick<Services, 'generations' | 'now' | 'limits' | 'usage'>;
  readonly caller: UsingCaller;
  /** 1; 0 for all but the first generation of a request. Default: 1. */
  readonly requestCount?: number;
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
  readonly #usage: GenerationUsage;
  #first: Step | undefined;
  #isOver = false;

  private constructor(request: GenerationRequest, start: GenerationStart) {
    const shared = { ...request, share: shareOf(start.caller.principal) };
    this.#events = start.engine.generate(shared, { signal: start.signal })[Symbol.asyncIterator]();
    this.#observer = new GenerationObserver({
      ...start,
      choiceCount: request.choiceCount ?? 1,
      maxTokens: request.stop?.maxTokens ?? null,
    });
    this.#start = start;
    this.#usage = new GenerationUsage(start);
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
      await this.#end(() => this.#observer.end());
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #read(): Promise<Step> {
    try {
      const step = await this.#events.next();
      if (step.done === true) await this.#end(() => this.#observer.end());
      else {
        this.#observer.push(step.value);
        if (step.value.kind === 'prompt-ready') this.#usage.chargePrompt(this.#observer.usage);
      }
      return step;
    } catch (error) {
      await this.#end(() => this.#observer.fail(error));
      throw this.#start.toApiError(error);
    }
  }

  /** The answer ends only when its usage is stored, so what a client has whole is counted. */
  async #end(report: () => void): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
    this.#start.onEnd?.();
    await this.#usage.end(this.#observer.usage);
  }
}
