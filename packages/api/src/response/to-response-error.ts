// Errors of the chat request behind a request of POST /v1/responses, in the names of the latter.

import { ApiError } from '../trpc/errors.ts';

/** Chat field -> field of a response request. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['messages', 'input'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['response_format', 'text.format'],
  ['reasoning_effort', 'reasoning.effort'],
  ['truncate_prompt_tokens', 'truncation'],
  ['logprobs', 'top_logprobs'],
]);

/** The error that the caller sees; anything but an `ApiError` is returned unchanged. */
export function toResponseError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { reason, message, param, retryAfterMs, faults, cause } = error;
  const renamed = param === null ? null : (NAMES.get(param) ?? param);
  const words = message.replace(/\b(tools\[\d+\]|tool_choice)\.function\./g, '$1.');
  // A message may name a second field, such as a limit. What the caller wrote is in quotes and stays.
  const named = words.replace(/"(?:[^"\\]|\\.)*"|\b[a-z_]+\b/g, word =>
    word === param || word.includes('_') ? (NAMES.get(word) ?? word) : word,
  );
  if (renamed === param && named === message) return error;
  return new ApiError(reason, named, { param: renamed, retryAfterMs, faults, cause });
}
