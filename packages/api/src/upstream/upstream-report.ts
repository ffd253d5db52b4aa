// Counts one answer of an upstream server, for metrics, rate limits and the usage report. Caller:
// `pass-on.ts`.

import type { TokenUsage } from '@ortler/engine';
import { UpstreamError } from '@ortler/upstream';
import { GenerationUsage, type UsingCaller } from '../generation/generation-usage.ts';
import { TokenLatency } from '../generation/token-latency.ts';
import type { GenerationReport, Services } from '../ports/services.ts';

export interface ReportedRequest {
  readonly services: Pick<Services, 'generations' | 'now' | 'limits' | 'usage'>;
  readonly caller: UsingCaller;
  readonly modelId: string;
  readonly choiceCount: number;
  /** Null where the request does not say. */
  readonly maxTokens: number | null;
  /** Until the server says it. */
  readonly promptTokenCount: number;
}

export class UpstreamReport {
  readonly #request: ReportedRequest;
  readonly #startedAtMs: number;
  readonly #tokens = new TokenLatency();
  readonly #finishReasons: string[] = [];
  #told: TokenUsage | undefined;
  #isOver = false;

  constructor(request: ReportedRequest) {
    this.#request = request;
    this.#startedAtMs = request.services.now();
  }

  /** Counts of the server; what it did not say is an estimate: one token for each piece of text. */
  get usage(): TokenUsage {
    const { promptTokenCount } = this.#request;
    return this.#told ?? { promptTokenCount, cachedTokenCount: 0, completionTokenCount: this.#tokens.count };
  }

  /** New text of a choice. */
  text(choiceIndex: number): void {
    const { services, modelId } = this.#request;
    this.#tokens.record({ choiceIndex, tokenCount: 1 }, services.now());
    services.generations.tokensGenerated(modelId, 1);
  }

  finish(reason: string): void {
    this.#finishReasons.push(reason);
  }

  /** What the server says of the whole answer; the last word counts. */
  tell(usage: TokenUsage): void {
    this.#told = usage;
  }

  /** The answer is whole only when its usage is stored. Later calls do nothing. */
  async end(outcome: GenerationReport['outcome']): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { services, caller, modelId, choiceCount, maxTokens } = this.#request;
    const { firstAtMs, count, longestChoiceCount, interTokenMs } = this.#tokens;
    const { usage } = this;
    // What failed before its first text has no one's tokens.
    const isUnused = outcome === 'failed' && firstAtMs === null;
    const untoldCount = usage.completionTokenCount - count;
    if (untoldCount > 0) services.generations.tokensGenerated(modelId, untoldCount);
    services.generations.generationEnded({
      modelId,
      outcome,
      finishReasons: this.#finishReasons,
      promptTokenCount: isUnused ? 0 : usage.promptTokenCount,
      completionTokenCount: usage.completionTokenCount,
      choiceCount,
      maxTokens,
      longestChoiceTokenCount: choiceCount === 1 ? usage.completionTokenCount : longestChoiceCount,
      durationMs: services.now() - this.#startedAtMs,
      firstTokenMs: firstAtMs === null ? null : firstAtMs - this.#startedAtMs,
      tokenGapsMs: interTokenMs,
      timing: null,
      decodeMs: null,
    });
    if (outcome === 'refused' || isUnused) return;
    const using = new GenerationUsage({ services, caller, modelId });
    using.chargePrompt(usage);
    await using.end(usage);
  }
}

/** How a request ended that failed. */
export function outcomeOf(error: unknown, signal: AbortSignal): GenerationReport['outcome'] {
  if (signal.aborted) return 'aborted';
  const isRefused = error instanceof UpstreamError && error.status !== undefined && error.status < 500;
  return isRefused ? 'refused' : 'failed';
}
