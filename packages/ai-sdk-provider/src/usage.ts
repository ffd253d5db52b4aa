// Token counts of the engine -> the AI SDK's usage.

import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { TokenUsage } from '@ortler/engine';

export interface AnswerUsage extends TokenUsage {
  /** Tokens up to the last one inside the reasoning; the opening mark counts, the closing one does not. */
  readonly reasoningTokenCount: number;
}

export function toUsage(usage: AnswerUsage): LanguageModelV4Usage {
  const { promptTokenCount, cachedTokenCount, completionTokenCount, reasoningTokenCount } = usage;
  return {
    inputTokens: {
      total: promptTokenCount,
      noCache: promptTokenCount - cachedTokenCount,
      cacheRead: cachedTokenCount,
      // The engine does not count the tokens that it adds to the prefix cache.
      cacheWrite: undefined,
    },
    outputTokens: {
      total: completionTokenCount,
      text: completionTokenCount - reasoningTokenCount,
      reasoning: reasoningTokenCount,
    },
    raw: { promptTokenCount, cachedTokenCount, completionTokenCount },
  };
}
