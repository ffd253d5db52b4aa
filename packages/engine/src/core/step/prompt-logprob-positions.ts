// Which log probabilities of a prompt a row of the plan has to give. Callers: what samples the rows of a step, here and on a
// device.

import type { PlannedRow } from '../scheduler/step-plan.ts';

/**
 * The prompt tokens that the row's first logits are opinions of, as the logits at one token are those of the next one.
 * Null where nobody asked.
 */
export function promptLogprobPositions(
  row: PlannedRow,
): { readonly tokenIds: readonly number[]; readonly topCount: number } | null {
  const { promptTokenIds, submitted, isPrefilled } = row.sequence.group;
  const { promptLogprobs } = submitted;
  if (promptLogprobs === undefined || isPrefilled) return null;
  const first = row.computedLength + row.tokenIds.length - row.logitsCount + 1;
  return {
    tokenIds: [...promptTokenIds.subarray(first, first + row.logitsCount)],
    topCount: promptLogprobs.topCount,
  };
}
