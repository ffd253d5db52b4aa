// From a row of the plan to jobs for whatever thread has time. Caller: `../sample-step.ts`.

import { Sampler } from '../sampling/sampler.ts';
import type { RowJob } from '../sampling/threads/row-job.ts';
import type { PlannedRow } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import { promptLogprobPositions } from './prompt-logprob-positions.ts';
import { toSamplingStep } from './to-sampling-step.ts';

/**
 * What of a row any thread can do, in the order of its logits: tokens of the prompt, then the draw if it is of that kind.
 * `start` is the row's first one in the logits of the step, `last` its last. Mutates: `last`, as its request asks.
 */
export function toRowJobs(
  row: PlannedRow,
  start: number,
  last: Float32Array,
  masks: readonly TokenMask[] | null,
): RowJob[] {
  const { tokenIds, topCount } = promptLogprobPositions(row) ?? { tokenIds: [], topCount: 0 };
  const jobs = tokenIds.map(
    (tokenId, index): RowJob => ({ kind: 'read', row: start + index, tokenId, topCount }),
  );
  // Tokens behind a draft depend on those before them.
  if (!row.drawsToken || row.draftLength > 0) return jobs;
  const step = toSamplingStep(row.sequence, masks === null ? null : masks[0]!);
  if (!Sampler.editInPlace(last, step)) return jobs;
  const { params, randomKey, position, topLogprobCount, processors } = step;
  const how = { params, randomKey, position, topCount: topLogprobCount, isEdited: processors.length > 0 };
  return [...jobs, { kind: 'draw', row: start + row.logitsCount - 1, ...how }];
}
