// The interface of the row edits that come before the draw. Implementations: `processors/`.

import type { TokenCounts } from './token-counts.ts';
import type { TokenEdits } from './token-edits.ts';

/** What a processor may know of the sequence whose next token is drawn. */
export interface OutputView {
  readonly outputTokenIds: readonly number[];
  /** Null where the request has no penalties. */
  readonly tokenCounts: TokenCounts | null;
}

/** One kind of edit of a row. */
export interface LogitsProcessor {
  /** Edits a row of logits, in float32 as the row is. Shape: `[vocabSize]`. Mutates: the row. */
  edit(logits: Float32Array, output: OutputView): void;
  /** Says what `edit` would do, token by token. Mutates: `edits`. */
  describe(edits: TokenEdits, output: OutputView): void;
}
