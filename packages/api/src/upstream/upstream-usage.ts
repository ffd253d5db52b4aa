// Token counts of answers of upstream servers: what they say at the end, else an estimate.

import type { TokenUsage } from '@ortler/engine';
import type { ReplyChoice, ReplyShape } from './reply-shape.ts';
import type { JsonObject } from './to-upstream-body.ts';

/** Of text in most languages and tokenizers: a rule of thumb, for answers that end before their counts come. */
const CHARACTERS_PER_TOKEN = 4;

/** The counts of a `usage` object; undefined for anything else. */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: details,
  } = usage as {
    readonly [field: string]: unknown;
  };
  if (!isCount(prompt)) return undefined;
  const cached = (details as { readonly cached_tokens?: unknown } | null | undefined)?.cached_tokens;
  return {
    promptTokenCount: prompt,
    completionTokenCount: isCount(completion) ? completion : 0,
    cachedTokenCount: isCount(cached) ? Math.min(cached, prompt) : 0,
  };
}

/** At least 1. */
export function estimatePromptTokens({ messages, prompt, tools }: JsonObject): number {
  const texts = [messages, prompt, tools].map(countTokens);
  return Math.max(1, Math.ceil(texts.reduce((sum, count) => sum + count, 0)));
}

/** Of a whole answer, by the texts of its choices. */
export function estimateAnswerTokens(choices: readonly ReplyChoice[], { textOf }: ReplyShape): number {
  const texts = choices.map(choice => {
    const { content, text, refusal, reasoning, tool_calls: calls } = textOf(choice);
    return countTokens([content, text, refusal, reasoning, calls]);
  });
  return Math.ceil(texts.reduce((sum, count) => sum + count, 0));
}

function countTokens(value: unknown): number {
  if (typeof value === 'string') return value.length / CHARACTERS_PER_TOKEN;
  // A number or a name of a field stands for a token, as in a prompt of ids.
  if (typeof value !== 'object' || value === null) return value == null ? 0 : 1;
  return Object.values(value).reduce<number>((sum, part) => sum + countTokens(part), 0);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
