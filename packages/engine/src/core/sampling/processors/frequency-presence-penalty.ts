// Frequency and presence penalty: lower the logits of tokens of the output, by an amount for each occurrence and by a fixed
// amount. The prompt does not count.

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
