// The row kernels in plain JavaScript: the reference for the WebAssembly ones, and the fallback in a process without
// WebAssembly (`node --jitless`). Slower, with identical bits.

import {
  BLOCK_LENGTH,
  BUCKET_COUNT,
  type Buckets,
  bucketOf,
  countBlocks,
  isWholeBlocks,
  type RowKernels,
  SAMPLE_LENGTH,
  type SpreadTokens,
} from './row-kernels.ts';
import { tokenWeight, type WeightScale } from './token-weight.ts';

export class PlainKernels implements RowKernels {
  readonly name = 'plain';
  row: Float32Array;
  readonly blockMaxima: Float32Array;
  readonly blockWeightSums: Float64Array;
  readonly weights: Float32Array;
  readonly bucketWeightSums = new Float64Array(BUCKET_COUNT);
  /** After the vocabulary it stays minus infinity. */
  readonly #copy: Float32Array;

  constructor(vocabSize: number) {
    const blockCount = countBlocks(vocabSize);
    this.#copy = new Float32Array(blockCount * BLOCK_LENGTH).fill(-Infinity);
    this.row = this.#copy;
    this.blockMaxima = new Float32Array(blockCount);
    this.blockWeightSums = new Float64Array(blockCount);
    this.weights = new Float32Array(this.row.length);
  }

  load(logits: Float32Array): void {
    this.#copy.set(logits);
    this.row = this.#copy;
  }

  open(logits: Float32Array): void {
    if (isWholeBlocks(logits.length)) this.row = logits;
    else this.load(logits);
  }

  scan(): number {
    const { row, blockMaxima } = this;
    let largest = -Infinity;
    let nanCount = 0;
    for (let block = 0; block < blockMaxima.length; block++) {
      let best = -Infinity;
      const end = (block + 1) * BLOCK_LENGTH;
      for (let id = block * BLOCK_LENGTH; id < end; id++) {
        const logit = row[id]!;
        if (Number.isNaN(logit)) nanCount++;
        if (logit > best) best = logit;
      }
      blockMaxima[block] = best;
      if (best > largest) largest = best;
    }
    return nanCount > 0 ? Number.NaN : largest;
  }

  weigh(scale: WeightScale, lowestLogit: number): number {
    const { row, blockMaxima, weights } = this;
    for (let id = 0; id < row.length; id++) {
      if (blockMaxima[Math.floor(id / BLOCK_LENGTH)]! < lowestLogit) continue;
      const logit = row[id]!;
      weights[id] = logit >= lowestLogit ? tokenWeight(logit, scale) : 0;
    }
    return this.weighKept(lowestLogit);
  }

  weighKept(lowestLogit: number): number {
    const { row, weights } = this;
    return this.#sumBlocks(lowestLogit, id => (row[id]! >= lowestLogit ? weights[id]! : 0));
  }

  weightReaching(lowestLogit: number): number {
    const { blockMaxima, blockWeightSums } = this;
    let weightSum = 0;
    for (let block = 0; block < blockMaxima.length; block++)
      if (blockMaxima[block]! >= lowestLogit) weightSum += blockWeightSums[block]!;
    return weightSum;
  }

  spread(buckets: Buckets, tokens: SpreadTokens): void {
    const { row, weights, bucketWeightSums } = this;
    bucketWeightSums.fill(0);
    for (let id = 0; id < row.length; id++) {
      if (tokens === 'sample' && id % BLOCK_LENGTH >= SAMPLE_LENGTH) continue;
      const logit = row[id]!;
      if (logit >= buckets.lowestLogit) bucketWeightSums[bucketOf(logit, buckets)]! += weights[id]!;
    }
  }

  gatherBetween(lowestLogit: number, belowLogit: number): Int32Array {
    const ids: number[] = [];
    for (const [id, logit] of this.row.entries()) {
      if (logit >= lowestLogit && logit < belowLogit) ids.push(id);
    }
    return Int32Array.from(ids);
  }

  /** The sum of weights of each block whose best token reaches the limit, and of all. Mutates: `blockWeightSums`. */
  #sumBlocks(lowestLogit: number, weightAt: (id: number) => number): number {
    const { blockMaxima, blockWeightSums } = this;
    let total = 0;
    for (let block = 0; block < blockWeightSums.length; block++) {
      blockWeightSums[block] = 0;
      if (blockMaxima[block]! < lowestLogit) continue;
      // Four sums, added crosswise at the end, like the lanes of the WebAssembly kernels.
      let sum0 = 0;
      let sum1 = 0;
      let sum2 = 0;
      let sum3 = 0;
      const end = (block + 1) * BLOCK_LENGTH;
      for (let id = block * BLOCK_LENGTH; id < end; id += 4) {
        sum0 += weightAt(id);
        sum1 += weightAt(id + 1);
        sum2 += weightAt(id + 2);
        sum3 += weightAt(id + 3);
      }
      const weightSum = sum0 + sum2 + (sum1 + sum3);
      blockWeightSums[block] = weightSum;
      total += weightSum;
    }
    return total;
  }
}
