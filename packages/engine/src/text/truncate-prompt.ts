// Left truncation of a prompt: its last tokens are kept. Called once the prompt is encoded, before its length is held
// against the context.

import { EngineError } from '../errors.ts';

export interface PromptTruncation {
  /** Tokens to keep. -1: as many as fit. Undefined: all. */
  readonly keep: number | undefined;
  /** Tokens asked for; undefined where the answer takes what is left. */
  readonly maxTokens: number | undefined;
  readonly contextLength: number;
}

/**
 * The last tokens of the prompt. Source: the service this wire format comes from.
 * Throws: `invalid_request` for a length that leaves no room for the tokens asked for, or no prompt.
 */
export function truncatePrompt(tokenIds: Int32Array, truncation: PromptTruncation): Int32Array {
  const { keep, maxTokens, contextLength } = truncation;
  if (keep === undefined) return tokenIds;
  const longest = contextLength - (maxTokens ?? 0);
  if (keep !== -1 && (!Number.isInteger(keep) || keep < 1 || keep > longest)) {
    throw new EngineError(
      'invalid_request',
      `truncatePromptTokens must be -1, or 1 to ${longest}: the context holds ${contextLength} tokens and ${maxTokens ?? 0} were asked for; got ${keep}.`,
      { parameter: 'truncatePromptTokens' },
    );
  }
  // An answer of open length needs room for one token.
  const kept = keep === -1 ? contextLength - (maxTokens ?? 1) : keep;
  // Nothing fits beside an answer that fills the context; the length check says so.
  if (kept <= 0 || tokenIds.length <= kept) return tokenIds;
  return tokenIds.slice(tokenIds.length - kept);
}
