// Repetition detection: recognises that an output ends in one block of tokens repeated. One per sequence that asks for
// it; changed by `Sequence.append` only.

import type { RepetitionDetection } from '../request/generation-request.ts';

export class RepetitionDetector {
  readonly #smallestSize: number;
  readonly #minCount: number;
  /**
   * By block size minus the smallest size: how many of the last tokens equal the token one block before them. A
   * block of `size` tokens stands there `minCount` times exactly when that is `size * (minCount - 1)` or more, so a
   * step compares one pair of tokens for each size and never looks further back.
   */
  readonly #runLengths: Int32Array;

  /** `maxTokens`: maximum number of output tokens; larger blocks than fit it `minCount` times are not looked for. */
  constructor({ minPatternSize, maxPatternSize, minCount }: RepetitionDetection, maxTokens: number) {
    this.#smallestSize = Math.max(1, minPatternSize);
    this.#minCount = minCount;
    const largestSize = Math.min(maxPatternSize, Math.floor(maxTokens / minCount));
    this.#runLengths = new Int32Array(Math.max(0, largestSize - this.#smallestSize + 1));
  }

  /** Whether the output with its newest token ends in a loop. */
  get isRepeating(): boolean {
    for (let i = 0; i < this.#runLengths.length; i++) {
      if (this.#runLengths[i]! >= (this.#smallestSize + i) * (this.#minCount - 1)) return true;
    }
    return false;
  }

  /** Mutates: counts the newest token of the output. */
  add(outputTokenIds: readonly number[]): void {
    const newest = outputTokenIds.length - 1;
    for (let i = 0; i < this.#runLengths.length; i++) {
      const before = newest - this.#smallestSize - i;
      if (before >= 0 && outputTokenIds[before] === outputTokenIds[newest]) this.#runLengths[i]!++;
      else this.#runLengths[i] = 0;
    }
  }
}
