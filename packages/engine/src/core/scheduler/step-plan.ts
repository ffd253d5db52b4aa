// The plan of one step: read-only data, made by the scheduler, read by the step runner and the commit.

import type { RunnerRow } from '../runners/model-runner.ts';
import type { Sequence } from '../sequence.ts';
import type { Draft } from '../speculative-decoding/drafter.ts';

/** Some pending tokens of one sequence, and a draft after them. */
export interface PlannedRow extends RunnerRow {
  readonly sequence: Sequence;
  /** Whether these are all pending tokens: the row's last logits, one more than the draft has tokens, give new ones. */
  readonly drawsToken: boolean;
  /** How many of the row's last tokens are a draft; 0 for most rows. */
  readonly draftLength: number;
  /** The proposed draft, of which the row may have fewer tokens. Null: none was requested. */
  readonly draft: Draft | null;
}

export interface StepPlan {
  /** Decodes in slot order, then decodes with drafts, then chunks of prompts. Never empty. */
  readonly rows: readonly PlannedRow[];
}

/** A sequence that gets a part of the step. */
export interface RowShare {
  readonly sequence: Sequence;
  /** Pending tokens that the step computes. */
  readonly tokenCount: number;
  readonly draft: Draft | null;
  /** Tokens of the draft that the step verifies, only after all pending tokens. */
  readonly draftLength: number;
}

/** The row of an admitted sequence. */
export function planRow({ sequence, tokenCount, draft, draftLength }: RowShare): PlannedRow {
  const { place, computedLength } = sequence;
  const drawsToken = tokenCount === sequence.pendingCount;
  const logitsCount = sequence.wantsPromptLogprobs ? tokenCount : Number(drawsToken) + draftLength;
  const pending = sequence.pendingTokens(tokenCount);
  return {
    sequence,
    slot: place!.slot,
    blocks: place!.blocks,
    ...(place!.rowStates === undefined ? {} : { states: place!.rowStates }),
    tokenIds: draftLength === 0 ? pending : joined(pending, draft!.proposed.subarray(0, draftLength)),
    computedLength,
    logitsCount,
    drawsToken,
    draftLength,
    draft,
  };
}

function joined(first: Int32Array, second: Int32Array): Int32Array {
  const both = new Int32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
