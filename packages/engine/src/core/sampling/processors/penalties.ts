// Penalties lower the logits of tokens that occurred. Repetition penalty: each token of prompt and output, once, however often it
// occurred. Frequency and presence penalty: tokens of the output, by an amount for each occurrence and by a fixed amount.
// Source of the repetition penalty: Keskar et al., "CTRL" (2019), section 4.1, with the prompt included.

import { LARGEST_FLOAT32 } from '../kernels/token-weight.ts';
import type { LogitsProcessor } from '../logits-processor.ts';

/** Divides positive and multiplies negative logits. A large penalty makes a token unlikely but never bans it. */
export function penalizeRepetition(promptTokenIds: Int32Array, repetitionPenalty: number): LogitsProcessor {
  // The penalty is rounded to float32 like the row; one beyond that range acts as the end of the range.
  const penalty = Math.min(LARGEST_FLOAT32, Math.max(2 ** -149, Math.fround(repetitionPenalty)));
  const inPrompt = new Set(promptTokenIds);
  const promptIds = Int32Array.from(inPrompt);
  const penalize = (logits: Float32Array, id: number): void => {
    const logit = logits[id]!;
    if (!Number.isFinite(logit)) return;
    const penalized = logit > 0 ? logit / penalty : logit * penalty;
    logits[id] = Math.min(LARGEST_FLOAT32, Math.max(-LARGEST_FLOAT32, penalized));
  };
  return {
    edit(logits, { tokenCounts }) {
      for (let i = 0; i < promptIds.length; i++) penalize(logits, promptIds[i]!);
      for (const id of tokenCounts?.tokenIds ?? []) if (!inPrompt.has(id)) penalize(logits, id);
    },
    describe(edits, { tokenCounts }) {
      for (let i = 0; i < promptIds.length; i++) edits.penalize(promptIds[i]!, penalty);
      for (const id of tokenCounts?.tokenIds ?? []) edits.penalize(id, penalty);
    },
  };
}

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
