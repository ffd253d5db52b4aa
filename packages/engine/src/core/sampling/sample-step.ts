// The sampling part of a step: rows of logits in, one token for each row out. It changes no sequence.
// Caller: `../engine-core.ts`, between the model call and the commit.

import type { StepPlan } from '../scheduler/step-plan.ts';
import { mustContinue } from '../stop-rules.ts';
import type { Sampler } from './sampler.ts';

const NO_TOKEN_IDS: readonly number[] = [];

/**
 * One token for each row with logits, in row order. Shape: `logits` is `[neededRowCount, vocabSize]`.
 * Mutates: `logits`. Throws: when a row is not made of numbers, that is, when the model is broken.
 */
export function sampleStep(sampler: Sampler, plan: StepPlan, logits: Float32Array): number[] {
  const { vocabSize } = sampler;
  const tokenIds: number[] = [];
  for (const { needsLogits, sequence } of plan.rows) {
    if (!needsLogits) continue;
    const start = tokenIds.length * vocabSize;
    const { submitted } = sequence.group;
    const outputLength = sequence.outputTokenIds.length;
    tokenIds.push(
      sampler.sample(logits.subarray(start, start + vocabSize), {
        params: submitted.sampling,
        randomKey: sequence.randomKey,
        position: outputLength,
        bannedTokenIds: mustContinue(submitted, outputLength) ? submitted.minTokensBannedIds : NO_TOKEN_IDS,
      }),
    );
  }
  return tokenIds;
}
