// One row of logits during sampling, or an edited copy of one, reduced block by block. Its queries use the blocks and visit only
// a small part of the vocabulary. Callers: `sampler.ts` and `logprobs.ts`.

import { Wasm } from '../row-memory/web-assembly.ts';
import type { Candidates } from './candidates.ts';
import { PlainKernels } from './kernels/plain-kernels.ts';
import { BLOCK_LENGTH, type Buckets, type RowKernels, type SpreadTokens } from './kernels/row-kernels.ts';
import type { WeightScale } from './kernels/token-weight.ts';
import { WasmKernels } from './kernels/wasm-kernels.ts';
import { kthLargest } from './kth-largest.ts';

/** From the id of a token to its block. */
const BLOCK_SHIFT = Math.log2(BLOCK_LENGTH);

/** Tokens that may be drawn. */
export interface RowCut {
  /** They have at least this logit. */
  readonly lowestLogit: number;
  /** The sum of their weights, which the blocks of the row have as well. */
  readonly weightSum: number;
}

export class LogitsRow {
  readonly vocabSize: number;
  /** As of the last `scan`. NaN when the row has one, minus infinity when nothing is left of it. */
  largest = Number.NaN;
  readonly #kernels: RowKernels;
  /** Work memory of `kthLargest`. */
  readonly #heap: Float64Array;

  constructor(vocabSize: number, kernels: RowKernels = createRowKernels(vocabSize)) {
    this.vocabSize = vocabSize;
    this.#kernels = kernels;
    this.#heap = new Float64Array(kernels.blockMaxima.length);
  }

  /** Takes a copy of these logits as the row, and gives it to be edited before `scan`. Shape: `[vocabSize]`, both. */
  load(logits: Float32Array): Float32Array {
    this.#kernels.load(logits);
    return this.#kernels.row.subarray(0, this.vocabSize);
  }

  /** Like `load`, for a row that is not edited: it is read in place where that is possible. */
  open(logits: Float32Array): void {
    this.#kernels.open(logits);
  }

  /** The row, to be read. Shape: `[vocabSize]` and more. */
  get logits(): Float32Array {
    return this.#kernels.row;
  }

  /** Reduces the row. All queries below refer to the row at the last scan; logits may only be lowered after it. */
  scan(): void {
    this.largest = this.#kernels.scan();
  }

  /** The lowest id whose logit is the largest. */
  get bestTokenId(): number {
    const { row, blockMaxima } = this.#kernels;
    return row.indexOf(this.largest, blockMaxima.indexOf(this.largest) * BLOCK_LENGTH);
  }

  /** The sum of weights of the tokens whose logit is at least `lowestLogit`; the weights are kept for the queries below. */
  weigh(scale: WeightScale, lowestLogit: number): number {
    return this.#kernels.weigh(scale, lowestLogit);
  }

  /** Weights of the last `weigh`, valid for tokens that reach its limit. Shape: at least `[vocabSize]`. */
  get weights(): Float32Array {
    return this.#kernels.weights;
  }

  /** The sum of `weigh` from the kept weights, for a limit that is not below theirs. */
  weighKept(lowestLogit: number): number {
    return this.#kernels.weighKept(lowestLogit);
  }

  /** Sum of the weights of the blocks with a token that has at least that logit: all their tokens of the last sum. */
  weightReaching(lowestLogit: number): number {
    return this.#kernels.weightReaching(lowestLogit);
  }

  /** Number of blocks with a token that has at least that logit. */
  countReaching(lowestLogit: number): number {
    const { blockMaxima } = this.#kernels;
    let count = 0;
    for (let block = 0; block < blockMaxima.length; block++) if (blockMaxima[block]! >= lowestLogit) count++;
    return count;
  }

  /** The weights of each bucket: of all tokens or of a sample of them. Valid until the next call. */
  spread(buckets: Buckets, tokens: SpreadTokens): Float64Array {
    this.#kernels.spread(buckets, tokens);
    return this.#kernels.bucketWeightSums;
  }

  /** Ids of the tokens whose logit is at least `lowestLogit` and below the other. Valid until the next call. */
  gatherBetween(lowestLogit: number, belowLogit: number): Int32Array {
    return this.#kernels.gatherBetween(lowestLogit, belowLogit);
  }

  /** Sum of the weights of these tokens. */
  weightSumOf(ids: Int32Array): number {
    const { weights } = this.#kernels;
    let weightSum = 0;
    for (let i = 0; i < ids.length; i++) weightSum += weights[ids[i]!]!;
    return weightSum;
  }

  /**
   * Of these tokens, of which all or none are counted in the last sum, counts those that have at least `lowestLogit`, and
   * gives what they weigh.
   */
  recount(
    ids: Int32Array,
    { isCounted, lowestLogit }: { readonly isCounted: boolean; readonly lowestLogit: number },
  ): number {
    const { row, weights, blockWeightSums } = this.#kernels;
    let weightSum = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const weight = weights[id]!;
      const isKept = row[id]! >= lowestLogit;
      if (isKept) weightSum += weight;
      if (isKept !== isCounted) blockWeightSums[id >> BLOCK_SHIFT]! += isKept ? weight : -weight;
    }
    return weightSum;
  }

  /** Bans the tokens of exactly that logit except for the first `keptCount` of them. Mutates: the row, then a copy. */
  forbidEquals(logit: number, keptCount: number): void {
    const logits = this.load(this.logits.subarray(0, this.vocabSize));
    let count = 0;
    for (let id = logits.indexOf(logit); id !== -1; id = logits.indexOf(logit, id + 1)) {
      count++;
      if (count > keptCount) logits[id] = -Infinity;
    }
  }

  /** The token in id order at which the sum of weights passes `target`, which is below the last sum: of that limit. */
  tokenAtWeightSum(target: number, lowestLogit: number): number {
    const { row, weights, blockWeightSums } = this.#kernels;
    let left = target;
    let block = 0;
    for (; left >= blockWeightSums[block]!; block++) left -= blockWeightSums[block]!;
    // Sums of weights are exact, so the block has the token.
    for (let id = block * BLOCK_LENGTH; ; id++) {
      if (row[id]! < lowestLogit) continue;
      left -= weights[id]!;
      if (left < 0) return id;
    }
  }

  /**
   * A logit that at least `count` tokens reach: the best tokens of that many blocks do. Minus infinity where there are
   * not that many blocks.
   */
  boundOfBest(count: number): number {
    const { blockMaxima } = this.#kernels;
    if (count > blockMaxima.length) return -Infinity;
    return kthLargest(blockMaxima, blockMaxima.length, count, this.#heap);
  }

  /** Number of tokens with a larger logit. */
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
