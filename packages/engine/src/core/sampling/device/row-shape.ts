// Layout of a row of logits on the device: padded, in blocks whose sums of weights float32 holds exactly.
// Readers: the graphs of this folder and `device-sampler.ts`, which must agree.

import { exactWeightBits } from '../kernels/token-weight.ts';

/** Tokens of a block that is summed. Sums of that many parts of a weight stay below 2^23, with carries below 2^24. */
export const SUM_BLOCK_LENGTH = 2048;
/** Bits of each part of a weight. */
export const PART_BITS = 12;
/** Tokens of a block in the search for the best tokens, which first reads only the largest logit of each block. */
export const TOP_BLOCK_LENGTH = 64;

export interface RowShape {
  readonly vocabSize: number;
  /** With at least one element after the vocabulary, the target of unused edits. */
  readonly paddedLength: number;
  readonly sumBlockCount: number;
  /** Bits of a weight: as in the sampler on the CPU. */
  readonly weightBits: number;
  /** Parts of a weight, lowest first. */
  readonly partCount: number;
}

export function rowShape(vocabSize: number): RowShape {
  const sumBlockCount = Math.floor(vocabSize / SUM_BLOCK_LENGTH) + 1;
  const weightBits = exactWeightBits(vocabSize);
  return {
    vocabSize,
    paddedLength: sumBlockCount * SUM_BLOCK_LENGTH,
    sumBlockCount,
    weightBits,
    partCount: Math.ceil((weightBits + 1) / PART_BITS),
  };
}
