// One row of a step: the sequence knows all of it but how many tokens it is given. Caller: `scheduler.ts`.

import type { Sequence } from '../sequence.ts';
import type { PlannedRow } from './step-plan.ts';

/** Whether log probabilities of the prompt are asked for and not all reported yet. */
export function wantsPromptLogits({ group }: Sequence): boolean {
  return group.submitted.promptLogprobs !== undefined && !group.isPrefilled;
}

/** The draft comes on top of the `tokenCount` pending tokens. */
export function planRow(sequence: Sequence, tokenCount: number, draftLength = 0): PlannedRow {
  const drawsToken = tokenCount === sequence.pendingCount;
  const logitsCount = wantsPromptLogits(sequence) ? tokenCount : Number(drawsToken) + draftLength;
  const promptLeft = Math.max(0, sequence.promptLength - sequence.computedLength);
  return {
    sequence,
    slot: sequence.slot!,
    blocks: sequence.blocks,
    tokenIds: sequence.pendingTokens(tokenCount + draftLength),
    computedLength: sequence.computedLength,
    logitsCount,
    promptCount: Math.min(tokenCount, promptLeft),
    // The last token of a prompt never goes with the others before it, wherever chunks end and whether it is computed again or
    // not: so it always takes the same graph.
    prefillCount: Math.max(0, Math.min(tokenCount - logitsCount, promptLeft - 1)),
    drawsToken,
    draftLength,
  };
}
