// Token counts over the prompts of one request.

import type { TokenUsage } from '@ortler/engine';

/** The counts before any prompt was answered. */
export const NO_USAGE: TokenUsage = { promptTokenCount: 0, completionTokenCount: 0, cachedTokenCount: 0 };

/** Both counts together. */
export function addUsage(left: TokenUsage, right: TokenUsage): TokenUsage {
  return {
    promptTokenCount: left.promptTokenCount + right.promptTokenCount,
    completionTokenCount: left.completionTokenCount + right.completionTokenCount,
    cachedTokenCount: left.cachedTokenCount + right.cachedTokenCount,
  };
}
