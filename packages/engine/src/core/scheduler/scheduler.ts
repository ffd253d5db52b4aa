// Decides what the next step computes: keeps running sequences going, admits waiting ones while slots and
// the prefill budget last. The only place besides `commit-step.ts` that gives or takes cache slots.

import type { SlotTable } from '../kv-cache/slot-table.ts';
import type { Sequence } from '../sequence.ts';
import { RequestQueue } from './request-queue.ts';
import type { PlannedRow, StepPlan } from './step-plan.ts';
import { grantTokens } from './token-budget.ts';

export interface SchedulerSettings {
  /** Most prompt tokens of one step, over all sequences. Decodes come on top. */
  readonly prefillChunkLength: number;
  /** Most prompt tokens of one step whose log probabilities are asked for. At least 1. */
  readonly promptLogitsLimit: number;
}

export class Scheduler {
  readonly queue = new RequestQueue();
  readonly #slots: SlotTable;
  readonly #copySlot: (from: number, to: number, length: number) => void;
  readonly #settings: SchedulerSettings;

  constructor(
    slots: SlotTable,
    copySlot: (from: number, to: number, length: number) => void,
    settings: SchedulerSettings,
  ) {
    this.#slots = slots;
    this.#copySlot = copySlot;
    this.#settings = settings;
  }

  /**
   * The next step, or null when nothing can run.
   *
   * Rows are in slot order and each gets what the budget leaves, so at most one row is an unfinished chunk and
   * sequences finish their prompts in slot order: decodes stay in front without any copy.
   * Mutates: admits waiting sequences, that is, gives them slots.
   */
  plan(): StepPlan | null {
    const rows: PlannedRow[] = [];
    let budgetLeft = this.#settings.prefillChunkLength;
    let logitsLeft = this.#settings.promptLogitsLimit;
    const grant = (sequence: Sequence): void => {
      const wantsPrompt = wantsPromptLogits(sequence);
      const room = wantsPrompt ? Math.min(budgetLeft, logitsLeft) : budgetLeft;
      const tokenCount = grantTokens(sequence.pendingCount, room);
      if (tokenCount === 0) return;
      if (sequence.pendingCount > 1) {
        budgetLeft -= tokenCount;
        if (wantsPrompt) logitsLeft -= tokenCount;
      }
      rows.push(planRow(sequence, tokenCount, wantsPrompt));
    };
    for (const sequence of this.#slots.owners) grant(sequence);
    while (budgetLeft > 0) {
      const admitted = this.#admitNext();
      if (admitted === null) break;
      grant(admitted);
    }
    return rows.length === 0 ? null : Object.freeze({ rows: Object.freeze(rows) });
  }

  #admitNext(): Sequence | null {
    const next = this.queue.peek();
    if (next === undefined || this.#slots.freeCount === 0) return null;
    const sharedLength = next.promptLength - 1;
    const sibling = findRunningSibling(next);
    // A choice waits one step for the prompt that its sibling is computing instead of computing it again.
    if (sibling !== undefined && sibling.computedLength < sharedLength) return null;
    this.queue.shift();
    const slot = this.#slots.occupy(next);
    if (sibling !== undefined && sharedLength > 0) {
      this.#copySlot(sibling.slot!, slot, sharedLength);
      next.computedLength = sharedLength;
    }
    return next;
  }
}

/** Another choice of the same request that is running: its slot holds the prompt's keys and values. */
function findRunningSibling(sequence: Sequence): Sequence | undefined {
  for (const other of sequence.group.openSequences) {
    if (other !== sequence && other.slot !== null) return other;
  }
  return undefined;
}

/** Whether log probabilities of the prompt are asked for and not all reported yet. */
function wantsPromptLogits({ group }: Sequence): boolean {
  return group.submitted.promptLogprobs !== undefined && !group.isPrefilled;
}

function planRow(sequence: Sequence, tokenCount: number, wantsPrompt: boolean): PlannedRow {
  const drawsToken = tokenCount === sequence.pendingCount;
  return Object.freeze({
    sequence,
    slot: sequence.slot!,
    tokenIds: sequence.pendingTokens(tokenCount),
    computedLength: sequence.computedLength,
    logitsCount: wantsPrompt ? tokenCount : Number(drawsToken),
    drawsToken,
  });
}
