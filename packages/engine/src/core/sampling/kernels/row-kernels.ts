// The interface of the loops that run over a whole row of logits. Implementations: `wasm-kernels.ts` (four tokens at
// a time) and `plain-kernels.ts` (the same in plain JavaScript). Both give the same bits. Caller: `../logits-row.ts`.

import type { WeightScale } from './token-weight.ts';

/** Tokens of a block. What a row is reduced to, block by block, is small enough for ordinary code. */
export const BLOCK_LENGTH = 64;

export interface RowKernels {
  readonly name: 'wasm' | 'plain';
  /**
   * The row to work on, written by the caller. Shape: `[blockCount * BLOCK_LENGTH]`; what lies behind the vocabulary
   * stays minus infinity.
   */
  readonly row: Float32Array;
  /** The largest logit of each block, as of the last `scan`. Shape: `[blockCount]`. */
  readonly blockMaxima: Float32Array;
  /** The sum of weights of each block, as of the last `weigh`. Shape: `[blockCount]`. */
  readonly blockMasses: Float64Array;
  /** The largest logit; NaN when one of the row is. Mutates: `blockMaxima`. */
  scan(): number;
  /**
   * The sum of weights of the tokens whose logit is at least `lowestLogit`. Comes after `scan`; the caller may have
   * lowered logits since. Mutates: `blockMasses`.
   */
  weigh(scale: WeightScale, lowestLogit: number): number;
}

export function countBlocks(vocabSize: number): number {
  return Math.ceil(vocabSize / BLOCK_LENGTH);
}
