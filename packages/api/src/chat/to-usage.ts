// Token counts of the engine -> the `usage` object of the wire.

import type { TokenUsage } from '@ortler/engine';

/** The three counts every usage object has. */
export function toUsage({
  promptTokenCount,
  completionTokenCount,
}: Pick<TokenUsage, 'promptTokenCount' | 'completionTokenCount'>) {
  return {
    prompt_tokens: promptTokenCount,
    total_tokens: promptTokenCount + completionTokenCount,
    completion_tokens: completionTokenCount,
  };
}
