// Log probabilities of a prompt's own tokens, as the wire has them.

import type { TokenLogprob } from '@ortler/engine';
import type { PromptLogprobs } from '@ortler/schemas';

/** One entry per prompt token, null for the first: the token itself and the most probable ones, by id. */
export function toPromptLogprobs(tokens: readonly (TokenLogprob | null)[]): (PromptLogprobs | null)[] {
  return tokens.map(token => {
    if (token === null) return null;
    const entry: PromptLogprobs = {};
    for (const { tokenId, logprob, rank, text } of [token, ...token.top])
      entry[tokenId] ??= { logprob, rank, decoded_token: text };
    return entry;
  });
}
