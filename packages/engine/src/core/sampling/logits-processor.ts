// The interface of logits processors, which edit a row of logits before the draw. Implementations: `processors/`.

import type { TokenCounts } from './token-counts.ts';
import type { TokenEdits } from './token-edits.ts';

/** The view of a processor on the sequence whose next token is sampled. */
export interface OutputView {
  readonly outputTokenIds: readonly number[];
  /** Null where the request has no penalties. */
  readonly tokenCounts: TokenCounts | null;
}

/** One kind of edit of a row. */
export interface LogitsProcessor {
  /** Edits a row of logits, in float32. Shape: `[vocabSize]`. Mutates: the row. */
  edit(logits: Float32Array, output: OutputView): void;
  /** Describes the effect of `edit`, token by token. Mutates: `edits`. */
  describe(edits: TokenEdits, output: OutputView): void;
}
