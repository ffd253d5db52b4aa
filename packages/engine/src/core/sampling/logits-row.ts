// One row of logits on its way to a token: a copy that may be edited, reduced block by block, and the questions that
// blocks answer without looking at most of the vocabulary. Callers: `sampler.ts` and `logprobs.ts`.

import type { Candidates } from './candidates.ts';
import { PlainKernels } from './kernels/plain-kernels.ts';
import { BLOCK_LENGTH, type Buckets, type RowKernels } from './kernels/row-kernels.ts';
import { tokenWeight, type WeightScale } from './kernels/token-weight.ts';
import { WasmKernels } from './kernels/wasm-kernels.ts';
import { Wasm } from './kernels/web-assembly.ts';
import { kthLargest } from './kth-largest.ts';

export class LogitsRow {
  readonly vocabSize: number;
  /** The copy. Shape: `[vocabSize]`. After an edit comes `scan`. */
  readonly logits: Float32Array;
  /** As of the last `scan`. NaN when the row has one, minus infinity when nothing is left of it. */
  largest = Number.NaN;
  readonly #kernels: RowKernels;
  /** Work memory of `kthLargest`. */
  readonly #heap: Float64Array;

  constructor(vocabSize: number, kernels: RowKernels = createRowKernels(vocabSize)) {
    this.vocabSize = vocabSize;
    this.#kernels = kernels;
    this.logits = kernels.row.subarray(0, vocabSize);
    this.#heap = new Float64Array(kernels.blockMaxima.length);
  }

  /** Mutates: the copy. Shape: `logits` is `[vocabSize]`. */
  load(logits: Float32Array): void {
    this.logits.set(logits);
  }

  /** Reduces the copy as it is now. Everything below is about the row as of the last scan; logits may sink after it. */
  scan(): void {
    this.largest = this.#kernels.scan();
  }

  /** The lowest id whose logit is the largest. */
  get bestTokenId(): number {
    const { row, blockMaxima } = this.#kernels;
    return row.indexOf(this.largest, blockMaxima.indexOf(this.largest) * BLOCK_LENGTH);
  }

  /** The sum of weights of the tokens whose logit is at least `lowestLogit`. */
  weigh(scale: WeightScale, lowestLogit: number): number {
    return this.#kernels.weigh(scale, lowestLogit);
  }

  /** As `weigh`, and keeps the weight of each token for the questions below, whose limits are at least this one. */
  keepWeights(scale: WeightScale, lowestLogit: number): number {
    return this.#kernels.keepWeights(scale, lowestLogit);
  }

  /** As of the last `keepWeights`. Shape: `[vocabSize]` and more. */
  get keptWeights(): Float32Array {
    return this.#kernels.weights;
  }

  /** `weigh` by the kept weights. */
  weighKept(lowestLogit: number): number {
    return this.#kernels.weighKept(lowestLogit);
  }

  /** Whether the tokens with at least that logit weigh so much. Comes right after `keepWeights`. */
  reachesKept(mass: number, lowestLogit: number): boolean {
    const { blockMaxima, blockMasses } = this.#kernels;
    // Blocks say most often that it cannot be.
    let most = 0;
    for (let block = 0; block < blockMaxima.length; block++)
      if (blockMaxima[block]! >= lowestLogit) most += blockMasses[block]!;
    return most >= mass && this.weighKept(lowestLogit) >= mass;
  }

  /** The kept weights of each bucket. Valid until the next call. */
  spreadKept(buckets: Buckets): Float64Array {
    this.#kernels.spread(buckets);
    return this.#kernels.bucketMasses;
  }

  /** Ids of the tokens of a bucket. Valid until the next call. */
  gatherBucket(bucket: number, buckets: Buckets): Int32Array {
    return this.#kernels.gatherBucket(bucket, buckets);
  }

  /** Forbids the tokens of exactly that logit but for the first `keptCount` of them. Mutates: the copy. */
  forbidEquals(logit: number, keptCount: number): void {
    const { logits } = this;
    let count = 0;
    for (let id = logits.indexOf(logit); id !== -1; id = logits.indexOf(logit, id + 1)) {
      count++;
      if (count > keptCount) logits[id] = -Infinity;
    }
  }

  /**
   * The token in id order at which the sum of weights passes `target`, which is below that of the last `weigh`: of that
   * scale and limit.
   */
  tokenAtMass(target: number, scale: WeightScale, lowestLogit: number): number {
    const { row, blockMasses } = this.#kernels;
    let left = target;
    let block = 0;
    for (; left >= blockMasses[block]!; block++) left -= blockMasses[block]!;
    // Sums of weights are exact, so the block has the token.
    for (let id = block * BLOCK_LENGTH; ; id++) {
      const logit = row[id]!;
      if (logit < lowestLogit) continue;
      left -= tokenWeight(logit, scale);
      if (left < 0) return id;
    }
  }

  /**
   * A logit that at least `count` tokens reach: the best tokens of that many blocks do. Minus infinity where there are
   * not so many blocks.
   */
  boundOfBest(count: number): number {
    const { blockMaxima } = this.#kernels;
    if (count > blockMaxima.length) return -Infinity;
    return kthLargest(blockMaxima, blockMaxima.length, count, this.#heap);
  }

  /** How many tokens have a larger logit. */
  countAbove(logit: number): number {
    const { row, blockMaxima } = this.#kernels;
    let count = 0;
    for (let block = 0; block < blockMaxima.length; block++) {
      if (!(blockMaxima[block]! > logit)) continue;
      const end = (block + 1) * BLOCK_LENGTH;
      for (let id = block * BLOCK_LENGTH; id < end; id++) if (row[id]! > logit) count++;
    }
    return count;
  }

  /** Mutates: fills `candidates` with the tokens whose logit is at least `lowestLogit`. */
  gather(candidates: Candidates, lowestLogit: number): void {
    const { row, blockMaxima } = this.#kernels;
    const { tokenIds, logits } = candidates;
    const { vocabSize } = this;
    let count = 0;
    for (let block = 0; block < blockMaxima.length; block++) {
      if (blockMaxima[block]! < lowestLogit) continue;
      const blockEnd = Math.min(vocabSize, (block + 1) * BLOCK_LENGTH);
      for (let id = block * BLOCK_LENGTH; id < blockEnd; id++) {
        const logit = row[id]!;
        if (logit < lowestLogit) continue;
        tokenIds[count] = id;
        logits[count] = logit;
        count++;
      }
    }
    candidates.count = count;
  }
}

/** The fast loops; the plain ones in a process without WebAssembly. They give the same bits. */
function createRowKernels(vocabSize: number): RowKernels {
  return Wasm === null ? new PlainKernels(vocabSize) : new WasmKernels(vocabSize);
}
