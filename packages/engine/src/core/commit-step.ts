// The single place where a finished step changes state. Everything before it may throw and leave no trace.

import type { SequenceUpdate } from '../link/messages.ts';
import type { SampledRow } from './sampling/sample-step.ts';
import type { StepPlan } from './scheduler/step-plan.ts';
import type { Sequence } from './sequence.ts';
import { findFinish } from './stop-rules.ts';

export interface CommittedStep {
  readonly updates: SequenceUpdate[];
  readonly prefilled: { readonly requestId: number; readonly cachedTokenCount: number }[];
  /** Sequences that ended; the caller releases their slots. */
  readonly ended: Sequence[];
  /** Rows that gave no token. Their sequences are as they were; the caller fails their requests. */
  readonly failed: { readonly sequence: Sequence; readonly error: Error }[];
}

/**
 * Takes over what the step computed. `sampled` has an entry for each row that draws a token, in row order.
 * Rows whose sequence is in `aborted` are skipped: nobody waits for their tokens any more.
 * Mutates: the planned sequences and their groups.
 */
export function commitStep(
  plan: StepPlan,
  sampled: readonly SampledRow[],
  aborted: ReadonlySet<Sequence>,
): CommittedStep {
  const committed: CommittedStep = { updates: [], prefilled: [], ended: [], failed: [] };
  let sampledIndex = 0;
  for (const row of plan.rows) {
    const { sequence } = row;
    const drawn = row.drawsToken ? sampled[sampledIndex++]! : null;
    if (aborted.has(sequence)) continue;
    if (drawn instanceof Error) {
      committed.failed.push({ sequence, error: drawn });
      continue;
    }
    sequence.computedLength += row.tokenIds.length;
    if (drawn !== null) commitToken(sequence, drawn, committed);
  }
  return committed;
}

function commitToken(sequence: Sequence, tokenId: number, committed: CommittedStep): void {
  const { group, choiceIndex } = sequence;
  const { requestId } = group;
  sequence.append(tokenId);
  if (!group.isPrefilled) {
    group.isPrefilled = true;
    committed.prefilled.push({ requestId, cachedTokenCount: 0 });
  }
  const finish = findFinish(group.submitted, tokenId, sequence.outputTokenIds.length);
  if (finish !== undefined) committed.ended.push(sequence);
  const update = { requestId, choiceIndex, tokenIds: [tokenId] };
  committed.updates.push(finish === undefined ? update : { ...update, finish });
}
