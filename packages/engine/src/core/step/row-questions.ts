// From a row of the plan to questions for a sampler: which token comes next, and how probable the tokens of a prompt were.
// Callers: `sample-step.ts` and `sample-device-step.ts`.

import type { OutputView } from '../sampling/logits-processor.ts';
import { Sampler, type SamplingStep } from '../sampling/sampler.ts';
import type { RowJob } from '../sampling/threads/row-job.ts';
import type { PlannedRow } from '../scheduler/step-plan.ts';
import type { Sequence } from '../sequence.ts';
import type { TokenMask } from '../token-mask.ts';

/** How the next token of a sequence is drawn after `output`, which may be ahead of the sequence's own. */
export function toSamplingStep(sequence: Sequence, output: OutputView, mask: TokenMask | null): SamplingStep {
  const { submitted, logitsProcessors } = sequence.group;
  return {
    params: submitted.sampling,
    randomKey: sequence.randomKey,
    position: output.outputTokenIds.length,
    processors: logitsProcessors,
    output,
    topLogprobCount: submitted.logprobs?.topCount,
    mask,
  };
}

/**
 * The prompt tokens whose log probabilities the row's first logits give: the logits at one token are those of the next one.
 * Null where they are not requested.
 */
export function promptLogprobPositions(
  row: PlannedRow,
): { readonly tokenIds: readonly number[]; readonly topCount: number } | null {
  const { promptTokenIds, submitted } = row.sequence.group;
  const { promptLogprobs } = submitted;
  if (promptLogprobs === undefined || !row.sequence.wantsPromptLogprobs) return null;
  const first = row.computedLength + row.tokenIds.length - row.logitsCount + 1;
  return {
    tokenIds: [...promptTokenIds.subarray(first, first + row.logitsCount)],
    topCount: promptLogprobs.topCount,
  };
}

/**
 * Adds the part of a row that any sampling thread can do, in the order of its logits: tokens of the prompt, then the draw if
 * it takes nothing but the logits. `start` is the row's first one in the logits of the step, `last` its last. Mutates: `jobs`,
 * and `last` as its request asks.
 */
export function addRowJobs(
  jobs: RowJob[],
  row: PlannedRow,
  { start, last }: { readonly start: number; readonly last: Float32Array },
  masks: readonly TokenMask[] | null,
): void {
  const read = promptLogprobPositions(row);
  if (read !== null) {
    const { topCount } = read;
    for (const [index, tokenId] of read.tokenIds.entries())
      jobs.push({ kind: 'read', row: start + index, tokenId, topCount });
  }
  // Tokens after a draft depend on those before them.
  if (!row.drawsToken || row.draftLength > 0) return;
  const step = toSamplingStep(row.sequence, row.sequence, masks === null ? null : masks[0]!);
  if (!Sampler.editInPlace(last, step)) return;
  const { params, randomKey, position, topLogprobCount, processors } = step;
  jobs.push({
    kind: 'draw',
    row: start + row.logitsCount - 1,
    params,
    randomKey,
    position,
    topCount: topLogprobCount,
    isEdited: processors.length > 0,
  });
}
