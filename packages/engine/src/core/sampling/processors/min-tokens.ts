// Minimum length: bans end-of-sequence and stop tokens while an output is too short.

import type { LogitsProcessor } from '../logits-processor.ts';

/** The ids get minus infinity before an output of `minTokens` tokens. */
export function banEnds(bannedTokenIds: readonly number[], minTokens: number): LogitsProcessor {
  return {
    edit(logits, { outputTokenIds }) {
      if (outputTokenIds.length >= minTokens) return;
      for (const id of bannedTokenIds) logits[id] = -Infinity;
    },
    describe(edits, { outputTokenIds }) {
      if (outputTokenIds.length >= minTokens) return;
      for (const id of bannedTokenIds) edits.ban(id);
    },
  };
}
