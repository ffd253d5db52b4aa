// The sampling part of a step: rows of logits in, what each row of the plan gave out. It changes no sequence.
// Caller: `../engine-core.ts`, between the model call and the commit.

import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { PlannedRow, StepPlan } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import { readTokenLogprobs } from './logprobs.ts';
import type { SampledToken, Sampler } from './sampler.ts';

export interface SampledRow {
  /** Null for a row that draws none. */
  readonly token: SampledToken | null;
  /** Of the prompt tokens that follow the row's tokens, from position `computedLength + 1` on; only when asked for. */
  readonly promptLogprobs: readonly TokenLogprobs[];
}

const NOTHING: readonly TokenLogprobs[] = [];

/**
 * One entry for each row of the plan, in its order: what the row gave, or why it could not give it, as a fault of one
 * row is no fault of the others. Shape: `logits` is `[sum of logitsCount, vocabSize]`; `masks` has what each row may
 * draw, or why that is not known. Mutates: `logits`.
 */
export function sampleStep(
  sampler: Sampler,
  plan: StepPlan,
  logits: Float32Array,
  masks: readonly (TokenMask | Error | null)[],
): (SampledRow | Error)[] {
  let start = 0;
  return plan.rows.map((row, index) => {
    const end = start + row.logitsCount * sampler.vocabSize;
    const rowLogits = logits.subarray(start, end);
    start = end;
    const mask = masks[index]!;
    if (mask instanceof Error) return mask;
    try {
      const promptLogprobs = readPromptLogprobs(sampler.vocabSize, row, rowLogits);
      return { promptLogprobs, token: row.drawsToken ? drawToken(sampler, row, rowLogits, mask) : null };
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  });
}

/** The row's last logits decide its next token. */
function drawToken(
  sampler: Sampler,
  { sequence }: PlannedRow,
  logits: Float32Array,
  mask: TokenMask | null,
): SampledToken {
  const { submitted, logitsProcessors } = sequence.group;
  return sampler.sample(logits.subarray(logits.length - sampler.vocabSize), {
    params: submitted.sampling,
    randomKey: sequence.randomKey,
    position: sequence.outputTokenIds.length,
    processors: logitsProcessors,
    output: sequence,
    topLogprobCount: submitted.logprobs?.topCount,
    mask,
  });
}

/** The logits at one token are the model's opinion of the next one. */
function readPromptLogprobs(
  vocabSize: number,
  row: PlannedRow,
  logits: Float32Array,
): readonly TokenLogprobs[] {
  const { promptTokenIds, submitted, isPrefilled } = row.sequence.group;
  const { promptLogprobs } = submitted;
  if (promptLogprobs === undefined || isPrefilled) return NOTHING;
  const firstPosition = row.computedLength + row.tokenIds.length - row.logitsCount + 1;
  const count = Math.min(row.logitsCount, promptTokenIds.length - firstPosition);
  return Array.from({ length: count }, (_, index) =>
    readTokenLogprobs(
      logits.subarray(index * vocabSize, (index + 1) * vocabSize),
      promptTokenIds[firstPosition + index]!,
      promptLogprobs.topCount,
    ),
  );
}
