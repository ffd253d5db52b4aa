// Log probabilities of a prompt's own tokens, as the wire has them.

import type { TokenLogprob } from '@ortler/engine';
import type { PromptLogprobs } from '@ortler/schemas';
import { nextTurn } from '@ortler/worker';
import { ApiError } from '../trpc/errors.ts';

/** Tokens that are written in one go, each with up to twenty candidates: a millisecond or less. */
const TOKENS_PER_TURN = 128;

/** Maximum number of log probabilities of prompts in one answer: about 60 megabytes of text. */
export const MAX_PROMPT_LOGPROB_COUNT = 1_048_576;

/** Throws: `answer_too_large`. */
export function refuseTooManyLogprobs(count: number): void {
  if (count <= MAX_PROMPT_LOGPROB_COUNT) return;
  throw new ApiError(
    'answer_too_large',
    `prompt_logprobs asks for ${count} log probabilities; an answer has at most ${MAX_PROMPT_LOGPROB_COUNT}. ` +
      'Ask for fewer at each token, or for fewer choices.',
    { param: 'prompt_logprobs' },
  );
}

/** Number of log probabilities: those of all tokens and of their candidates. */
export function countPromptLogprobs(tokens: readonly (TokenLogprob | null)[]): number {
  return tokens.reduce((count, token) => count + 1 + (token?.top.length ?? 0), 0);
}

/**
 * One entry per prompt token, null for the first: the token itself and the most probable ones, by id. A long prompt is
 * done in turns, so that other requests are served in between.
 */
export async function toPromptLogprobs(
  tokens: readonly (TokenLogprob | null)[],
): Promise<(PromptLogprobs | null)[]> {
  const entries: (PromptLogprobs | null)[] = [];
  for (const token of tokens) {
    entries.push(token === null ? null : toEntry(token));
    if (entries.length % TOKENS_PER_TURN === 0) await nextTurn();
  }
  return entries;
}

function toEntry(token: TokenLogprob): PromptLogprobs {
  const entry: PromptLogprobs = {};
  for (const { tokenId, logprob, rank, text } of [token, ...token.top])
    entry[tokenId] ??= { logprob, rank, decoded_token: text };
  return entry;
}
