// Token counts of the engine -> the `usage` object of the wire, and which chunks carry it.

import type { TokenUsage } from '@ortler/engine';
import type { ChatCompletionRequest } from '@ortler/schemas';

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

/**
 * The usage of a whole answer. `reasoningTokenCount`: null where reasoning cannot be separated from the
 * answer.
 * Source: vLLM, which has `completion_tokens_details` only with a reasoning parser.
 */
export function toWholeUsage(usage: TokenUsage, reasoningTokenCount: number | null = null) {
  return {
    ...toUsage(usage),
    prompt_tokens_details: { cached_tokens: usage.cachedTokenCount },
    ...(reasoningTokenCount !== null && {
      completion_tokens_details: { reasoning_tokens: reasoningTokenCount },
    }),
  };
}

/**
 * Which chunks carry usage. `continuous_usage_stats` asks for usage even when `include_usage` is left out, but not
 * against an explicit false.
 */
export function readUsageMode(
  options: ChatCompletionRequest['stream_options'],
): 'none' | 'at-end' | 'every-chunk' {
  const continuous = options?.continuous_usage_stats === true;
  const included = options?.include_usage ?? continuous;
  if (!included) return 'none';
  return continuous ? 'every-chunk' : 'at-end';
}
