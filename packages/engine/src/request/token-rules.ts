// The rules of a request about single tokens: which end a choice, which must not be drawn. Settled at the door, they cross
// the link whole; the token side applies each where it acts.

import type { RepetitionDetection } from './generation-request.ts';

export interface TokenRules {
  readonly maxTokens: number;
  readonly minTokens: number;
  /** Ends with stop reason null. Empty when end-of-sequence is ignored. */
  readonly eosTokenIds: readonly number[];
  /** Ends with the token id as stop reason. */
  readonly stopTokenIds: readonly number[];
  /** Must not be drawn before `minTokens` tokens: every end, ignored end-of-sequence ids included. */
  readonly minTokensBannedIds: readonly number[];
  /** Token sequences that must not be completed. Absent: none. */
  readonly badTokenSequences?: readonly (readonly number[])[] | undefined;
  /** Absent: off. */
  readonly repetitionDetection?: RepetitionDetection | undefined;
}
