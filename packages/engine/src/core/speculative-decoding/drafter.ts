// The interface between the scheduler and whatever guesses tokens ahead. Every token is drawn as without it: guesses
// only change how many model calls an output takes.

import type { Sequence } from '../sequence.ts';

export interface Drafter {
  /**
   * Guesses the next tokens of the running sequences and decides how many of them to compute in this step.
   *
   * Returns the length of each sequence's draft, in their order; valid until the next call. A draft leaves room
   * for one more token before the length limit of its sequence; all together have at most `logitsRoom` tokens.
   * Mutates: the guesses of the sequences. Called again for the same sequences it gives the same.
   */
  draft(decodes: readonly Sequence[], step: DraftStep): readonly number[];
}

export interface DraftStep {
  /** The step computes nothing but these sequences. */
  readonly isAlone: boolean;
  /** Most drafted tokens of the step, over all sequences. */
  readonly logitsRoom: number;
}
