// The interface between the scheduler and speculative decoding: a drafter proposes next tokens, the model verifies them in
// one call, and the sampler accepts those that it draws anyway. Drafts change how many model calls an output takes, never
// its tokens.

import type { SubmitMessage } from '../../protocol/messages.ts';
import type { SequenceConstraint } from '../answer-constraint/sequence-constraint.ts';
import type { DraftSource } from './draft-policy.ts';

/** The view of a drafter on a sequence. */
export interface DraftableSequence {
  readonly group: { readonly requestId: number; readonly submitted: SubmitMessage };
  readonly choiceIndex: number;
  readonly outputTokenIds: readonly number[];
  /** Prompt and output. Shape: at least `[tokenCount]`. */
  readonly tokenIds: Int32Array;
  readonly tokenCount: number;
  readonly constraint: Pick<SequenceConstraint, 'jumpForward' | 'countAllowed'> | null;
  /** Acceptance rates. */
  readonly acceptance: { of(source: DraftSource): number };
}

/** Tokens that one sequence probably draws next. */
export interface Draft {
  /** In their order. Empty: no proposal. */
  readonly proposed: Int32Array;
  readonly source: DraftSource;
  /** How many of the proposed tokens this step verifies; the others only show how good proposals are. */
  readonly length: number;
}

export interface Drafter {
  /**
   * One draft for each of the running sequences, in their order. A draft leaves one more token before the length
   * limit of its sequence; all together have at most `logitsRoom` tokens. Called again for the same sequences it gives the
   * same.
   */
  draft(decodes: readonly DraftableSequence[], step: DraftStep): readonly Draft[];
}

export interface DraftStep {
  /** The step computes nothing but these sequences. */
  readonly isAlone: boolean;
  /** Maximum number of drafted tokens of the step, over all sequences. */
  readonly logitsRoom: number;
}
