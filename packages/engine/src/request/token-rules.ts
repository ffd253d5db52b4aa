// Token rules of a request: stop tokens, bans and limits. Validated on the text side; they cross the link unchanged and the
// token side applies them.

import type { RepetitionDetection } from './generation-request.ts';

export interface TokenRules {
  readonly maxTokens: number;
  readonly minTokens: number;
  /** Ends with stop reason null. Empty when end-of-sequence is ignored. */
  readonly eosTokenIds: readonly number[];
  /** Ends with the token id as stop reason. */
  readonly stopTokenIds: readonly number[];
  /** Banned before `minTokens` tokens: every stop token, ignored end-of-sequence ids included. */
  readonly minTokensBannedIds: readonly number[];
  /** Token sequences that must not be completed. Absent: none. */
  readonly badTokenSequences?: readonly (readonly number[])[] | undefined;
  /** Absent: off. */
  readonly repetitionDetection?: RepetitionDetection | undefined;
}
