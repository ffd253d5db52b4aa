// One row of logits on its way to a token: a copy that may be edited, reduced block by block, and the questions that
// blocks answer without looking at most of the vocabulary. Callers: `sampler.ts` and `logprobs.ts`.

import type { Candidates } from './candidates.ts';
import { PlainKernels } from './kernels/plain-kernels.ts';
import { BLOCK_LENGTH, type RowKernels } from './kernels/row-kernels.ts';
import { tokenWeight, type WeightScale } from './kernels/token-weight.ts';
import { WasmKernels } from './kernels/wasm-kernels.ts';
import { Wasm } from './kernels/web-assembly.ts';
import { kthLargest } from './kth-largest.ts';

/** Which tokens are worth looking at. */
export interface GatherLimits {
  readonly lowestLogit: number;
  /** Least `(logit - largest) / temperature`: the logarithm of a share of the best token's probability. */
  readonly lowestScore: number;
  readonly temperature: number;
}

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

  /** Reduces the copy as it is now. Everything below is about the row as of the last scan. */
  scan(): void {
    this.largest = this.#kernels.scan();
  }

  /** The lowest id whose logit is the largest. */
  get bestTokenId(): number {
    const { row, blockMaxima } = this.#kernels;
    return row.indexOf(this.largest, blockMaxima.indexOf(this.largest) * BLOCK_LENGTH);
  }

  /** The sum of weights of all tokens. */
  weigh(scale: WeightScale): number {
    return this.#kernels.weigh(scale);
  }

  /** The token in id order at which the sum of weights passes `target`, which is below that of the last `weigh`. */
  tokenAtMass(target: number, scale: WeightScale): number {
    const { row, blockMasses } = this.#kernels;
    let left = target;
    let block = 0;
    for (; left >= blockMasses[block]!; block++) left -= blockMasses[block]!;
    let id = block * BLOCK_LENGTH;
    for (; ; id++) {
      left -= tokenWeight(row[id]!, scale);
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

  /** Mutates: fills `candidates` with the tokens within the limits. */
  gather(candidates: Candidates, { lowestLogit, lowestScore, temperature }: GatherLimits): void {
    const { row, blockMaxima } = this.#kernels;
    const { tokenIds, logits } = candidates;
    const { vocabSize, largest } = this;
    const isIn = (logit: number): boolean =>
      logit >= lowestLogit && (logit - largest) / temperature >= lowestScore;
    let count = 0;
    for (let block = 0; block < blockMaxima.length; block++) {
      // Both limits grow with the logit, so no token of the block is in when its best one is not.
      if (!isIn(blockMaxima[block]!)) continue;
      const end = Math.min(vocabSize, (block + 1) * BLOCK_LENGTH);
      for (let id = block * BLOCK_LENGTH; id < end; id++) {
        const logit = row[id]!;
        if (!isIn(logit)) continue;
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
