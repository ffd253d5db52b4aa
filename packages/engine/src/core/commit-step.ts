// The single place where a finished step changes state. Everything before it may throw and leave no trace.

import type { PrefilledRequest, SequenceUpdate } from '../link/messages.ts';
import type { SampledRow } from './sampling/sample-step.ts';
import type { SampledToken } from './sampling/sampler.ts';
import type { StepPlan } from './scheduler/step-plan.ts';
import type { Sequence } from './sequence.ts';
import { findFinish } from './stop-rules.ts';

export interface CommittedStep {
  readonly updates: SequenceUpdate[];
  readonly prefilled: PrefilledRequest[];
  /** Sequences that ended; the caller releases their slots. */
  readonly ended: Sequence[];
  /** Rows that gave no token. Their sequences are as they were; the caller fails their requests. */
  readonly failed: { readonly sequence: Sequence; readonly error: Error }[];
}

/**
 * Takes over what the step computed. `sampled` has an entry for each row, in the plan's order.
 * Rows whose sequence is in `aborted` are skipped: nobody waits for their tokens any more.
 * Mutates: the planned sequences and their groups.
 */
export function commitStep(
  plan: StepPlan,
  sampled: readonly (SampledRow | Error)[],
  aborted: ReadonlySet<Sequence>,
): CommittedStep {
  const committed: CommittedStep = { updates: [], prefilled: [], ended: [], failed: [] };
  for (const [index, { sequence, computedLength, tokenIds }] of plan.rows.entries()) {
    const row = sampled[index]!;
    if (aborted.has(sequence)) continue;
    if (row instanceof Error) {
      committed.failed.push({ sequence, error: row });
      continue;
    }
    sequence.computedLength += tokenIds.length;
    for (const [offset, logprobs] of row.promptLogprobs.entries()) {
      sequence.group.promptLogprobs[computedLength + 1 + offset] = logprobs;
    }
    if (row.token !== null) commitToken(sequence, row.token, committed);
  }
  return committed;
}

function commitToken(
  sequence: Sequence,
  { tokenId, logprobs }: SampledToken,
  committed: CommittedStep,
): void {
  const { group, choiceIndex } = sequence;
  const { requestId, submitted } = group;
  sequence.append(tokenId);
  if (!group.isPrefilled) {
    group.isPrefilled = true;
    committed.prefilled.push({
      requestId,
      cachedTokenCount: group.cachedTokenCount ?? 0,
      ...(submitted.promptLogprobs === undefined ? {} : { promptLogprobs: group.promptLogprobs }),
    });
  }
  const finish = findFinish(submitted, {
    tokenId,
    outputLength: sequence.outputTokenIds.length,
    isRepeating: sequence.isRepeating,
  });
  if (finish !== undefined) committed.ended.push(sequence);
  committed.updates.push({
    requestId,
    choiceIndex,
    tokenIds: [tokenId],
    ...(logprobs === undefined ? {} : { logprobs: [logprobs] }),
    ...(finish === undefined ? {} : { finish }),
  });
}
