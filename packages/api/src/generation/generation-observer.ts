// Observes the events of one generation and reports it once, however it ends. Caller: `running-generation.ts`.

import { EngineError, type GenerationEvent, type TokenUsage } from '@ortler/engine';
import type { GenerationReport, Services } from '../ports/services.ts';
import { TokenLatency } from './token-latency.ts';

export interface ObservedGeneration {
  readonly services: Pick<Services, 'generations' | 'now'>;
  readonly modelId: string;
  readonly choiceCount: number;
  /** Null where the request does not say. */
  readonly maxTokens: number | null;
  /** Unit: milliseconds since 1970. Arrival of the request. */
  readonly startedAtMs: number;
}

export class GenerationObserver {
  readonly #observed: ObservedGeneration;
  readonly #tokens = new TokenLatency();
  readonly #finishReasons: string[] = [];
  #isFinished = false;
  #promptTokenCount = 0;
  #cachedTokenCount = 0;
  /** Tokens of all choices, known at the end; before that, those that were delivered. */
  #outputTokenCount: number | null = null;
  #timing: GenerationReport['timing'] = null;
  #decodeMs: number | null = null;

  constructor(observed: ObservedGeneration) {
    this.#observed = observed;
  }

  /** What was used so far. */
  get usage(): TokenUsage {
    return {
      promptTokenCount: this.#promptTokenCount,
      cachedTokenCount: this.#cachedTokenCount,
      completionTokenCount: this.#outputTokenCount ?? this.#tokens.count,
    };
  }

  push(event: GenerationEvent): void {
    switch (event.kind) {
      case 'prompt-ready':
        this.#promptTokenCount = event.promptTokenIds.length;
        this.#cachedTokenCount = event.cachedTokenCount;
        this.#timing = event.timing ?? null;
        return;
      case 'token-delta':
        this.#tokens.record(
          { choiceIndex: event.choiceIndex, tokenCount: event.tokenIds.length },
          this.#observed.services.now(),
        );
        if (event.tokenIds.length > 0)
          this.#observed.services.generations.tokensGenerated(this.#observed.modelId, event.tokenIds.length);
        if (event.finish !== null) this.#finishReasons.push(event.finish.reason);
        return;
      case 'request-finish':
        this.#isFinished = true;
        this.#outputTokenCount = event.usage.completionTokenCount;
        this.#decodeMs = event.decodeMs ?? null;
    }
  }

  /** Reports the end of the events. To be called once. */
  end(): void {
    this.#report(this.#isFinished ? 'finished' : 'aborted');
  }

  /** Reports that the events ended with this error. To be called once, in place of `end`. */
  fail(error: unknown): void {
    this.#report(outcomeOf(error, this.#promptTokenCount > 0));
  }

  #report(outcome: GenerationReport['outcome']): void {
    const { services, modelId, choiceCount, maxTokens, startedAtMs } = this.#observed;
    const { firstAtMs, count, longestChoiceCount, interTokenMs } = this.#tokens;
    services.generations.generationEnded({
      modelId,
      outcome,
      finishReasons: this.#finishReasons,
      promptTokenCount: this.#promptTokenCount,
      completionTokenCount: count,
      choiceCount,
      maxTokens,
      longestChoiceTokenCount: longestChoiceCount,
      durationMs: services.now() - startedAtMs,
      firstTokenMs: firstAtMs === null ? null : firstAtMs - startedAtMs,
      tokenGapsMs: interTokenMs,
      timing: this.#timing,
      decodeMs: this.#decodeMs,
    });
  }
}

function outcomeOf(error: unknown, hasStarted: boolean): GenerationReport['outcome'] {
  if (!(error instanceof EngineError)) return 'failed';
  if (error.code === 'aborted') return 'aborted';
  return hasStarted || error.code === 'engine_failed' ? 'failed' : 'refused';
}
