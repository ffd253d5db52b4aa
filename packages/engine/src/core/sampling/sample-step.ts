// The sampling part of a step: rows of logits in, one token for each row that draws one out. It changes no sequence.
// Caller: `../engine-core.ts`, between the model call and the commit.

import type { StepPlan } from '../scheduler/step-plan.ts';
import type { Sequence } from '../sequence.ts';
import { mustContinue } from '../stop-rules.ts';
import type { Sampler } from './sampler.ts';

const NO_TOKEN_IDS: readonly number[] = [];

/** What a row drew, or why it could not: a fault of one row is no fault of the others. */
export type SampledRow = number | Error;

/**
 * One entry for each row that draws a token, in row order. Shape: `logits` is `[sum of logitsCount, vocabSize]`.
 * Mutates: `logits`.
 */
export function sampleStep(sampler: Sampler, plan: StepPlan, logits: Float32Array): SampledRow[] {
  const { vocabSize } = sampler;
  const sampled: SampledRow[] = [];
  let end = 0;
  for (const { logitsCount, drawsToken, sequence } of plan.rows) {
    end += logitsCount * vocabSize;
    if (drawsToken) sampled.push(sampleRow(sampler, sequence, logits.subarray(end - vocabSize, end)));
  }
  return sampled;
}

function sampleRow(
  sampler: Sampler,
  { group, outputTokenIds, randomKey }: Sequence,
  row: Float32Array,
): SampledRow {
  const { submitted } = group;
  const outputLength = outputTokenIds.length;
  try {
    return sampler.sample(row, {
      params: submitted.sampling,
      randomKey,
      position: outputLength,
      bannedTokenIds: mustContinue(submitted, outputLength) ? submitted.minTokensBannedIds : NO_TOKEN_IDS,
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
