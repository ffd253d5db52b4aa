// Lowers the scores of tokens of the output: a little more for each time, and a fixed amount for any time.
// The prompt does not count.

import type { LogitsProcessor } from '../logits-processor.ts';

/** `logit - frequency * count - presence` for each token that was generated, rounded to float32 after each step. */
export function penalizeCounts(frequencyPenalty: number, presencePenalty: number): LogitsProcessor {
  const frequency = Math.fround(frequencyPenalty);
  const presence = Math.fround(presencePenalty);
  return {
    edit(logits, { tokenCounts }) {
      if (tokenCounts === null) return;
      const { tokenIds, counts } = tokenCounts;
      for (let i = 0; i < tokenIds.length; i++) {
        const id = tokenIds[i]!;
        logits[id]! -= Math.fround(frequency * counts[i]!);
        logits[id]! -= presence;
      }
    },
    describe(edits, { tokenCounts }) {
      if (tokenCounts === null) return;
      const { tokenIds, counts } = tokenCounts;
      for (let i = 0; i < tokenIds.length; i++)
        edits.lower(tokenIds[i]!, Math.fround(frequency * counts[i]!), presence);
    },
  };
}
