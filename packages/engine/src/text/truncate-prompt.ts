// Left truncation of a prompt: its last tokens are kept. Called after encoding, before the length is checked against the
// context.

import { EngineError } from '../errors.ts';

export interface PromptTruncation {
  /** Tokens to keep. -1: as many as fit. Undefined: all. */
  readonly keep: number | undefined;
  /** Requested tokens of the answer; undefined where it may take the rest of the context. */
  readonly maxTokens: number | undefined;
  readonly contextLength: number;
}

/**
 * The last tokens of the prompt. Source: vLLM.
 * Throws: `invalid_request` for a length that does not fit beside the requested tokens, or that leaves no prompt.
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
  // An answer of open length has at least one token.
  const kept = keep === -1 ? contextLength - (maxTokens ?? 1) : keep;
  // No prompt fits beside an answer that fills the context; the length check refuses it.
  if (kept <= 0 || tokenIds.length <= kept) return tokenIds;
  return tokenIds.slice(tokenIds.length - kept);
}
