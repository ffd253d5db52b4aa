// The interface of the loops that run over a whole row of logits. Implementations: `wasm-kernels.ts` (four tokens at
// a time) and `plain-kernels.ts` (the same in plain JavaScript). Both give the same bits. Caller: `../logits-row.ts`.

import { ROUNDER, type WeightScale } from './token-weight.ts';

/** Buckets that the weight of a row is spread over; the last one also takes all that is below. */
export const BUCKET_COUNT = 512;

/** Tokens of each block that are in the sample of `spread`. */
export const SAMPLE_LENGTH = 4;

/** Tokens of a block. The per-block results are few enough for ordinary code. */
export const BLOCK_LENGTH = 64;

export interface RowKernels {
  readonly name: 'wasm' | 'plain';
  /** The row to work on. Shape: `[vocabSize]` and more; elements after the vocabulary are minus infinity. */
  readonly row: Float32Array;
  /** Takes a copy of these logits as the row, which the caller may change. Shape: `logits` is `[vocabSize]`. */
  load(logits: Float32Array): void;
  /**
   * Like `load`, for a row that is not changed: the logits themselves where the kernels can read them in
   * place.
   */
  open(logits: Float32Array): void;
  /** The largest logit of each block, as of the last `scan`. Shape: `[blockCount]`. */
  readonly blockMaxima: Float32Array;
  /** The sum of weights of each block, as of the last `weigh`. Shape: `[blockCount]`. */
  readonly blockWeightSums: Float64Array;
  /** The largest logit; NaN when one of the row is. Mutates: `blockMaxima`. */
  scan(): number;
  /**
   * The sum of weights of the tokens whose logit is at least `lowestLogit`; each is kept for what follows. Comes after
   * `scan`; the caller may have lowered logits since. Mutates: `blockWeightSums` and `weights`.
   */
  weigh(scale: WeightScale, lowestLogit: number): number;
  /**
   * The weight of each token that reaches the limit of the last `weigh`; of other tokens it means nothing.
   * Shape: `[blockCount * BLOCK_LENGTH]`.
   */
  readonly weights: Float32Array;
  /**
   * As `weigh` by the kept weights. The limit is at least theirs, and finite: a token that was banned since still has its
   * weight. Mutates: `blockWeightSums`.
   */
  weighKept(lowestLogit: number): number;
  /** The sum of `blockWeightSums` of the blocks with a token that has at least that logit. */
  weightReaching(lowestLogit: number): number;
  /** The sum of weights of each bucket, as of the last `spread`. Shape: `[BUCKET_COUNT]`. */
  readonly bucketWeightSums: Float64Array;
  /**
   * Sums up the kept weights by bucket: that of a token is how far its logit is below `largest`, times
   * `stride`, rounded (`bucketOf`). Only tokens whose logit is at least `lowestLogit`, of all or of those of
   * a sample: the first `SAMPLE_LENGTH` of each block. Mutates: `bucketWeightSums`.
   */
  spread(buckets: Buckets, tokens: SpreadTokens): void;
  /** Ids of the tokens whose logit is at least `lowestLogit` and below the other, ascending. Valid until the next call. */
  gatherBetween(lowestLogit: number, belowLogit: number): Int32Array;
}

export type SpreadTokens = 'all' | 'sample';

/** Division of logits into buckets. Numbers are float32. */
export interface Buckets {
  /** The largest logit. */
  readonly largest: number;
  /** Buckets per unit of logits; above 0 and finite. */
  readonly stride: number;
  readonly lowestLogit: number;
}

/** The definition of a token's bucket; `wasm-spread-functions.ts` repeats it. Never less for a smaller logit. */
export function bucketOf(logit: number, { largest, stride }: Buckets): number {
  const place = Math.min(BUCKET_COUNT - 1, Math.fround(Math.fround(largest - logit) * stride));
  return Math.fround(place + ROUNDER) - ROUNDER;
}

/** Only then rows can be read in place: the last block of others would have tokens of the next row. */
export function isWholeBlocks(vocabSize: number): boolean {
  return vocabSize % BLOCK_LENGTH === 0;
}

export function countBlocks(vocabSize: number): number {
  return Math.ceil(vocabSize / BLOCK_LENGTH);
}
