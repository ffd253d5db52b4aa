// Finds the end of the thinking in the bytes of the tokens, as the text that marks it may be cut into tokens anyhow.

import type { TokenVocabulary } from './token-vocabulary.ts';

export class ThinkingEnd {
  readonly #vocabulary: TokenVocabulary;
  readonly #ends: readonly Uint8Array[];
  readonly #keptLength: number;
  /** The last bytes of the thought: as many as the longest end has. */
  readonly #tail: number[];

  /** `tail`: the last bytes of what was thought so far. */
  constructor(vocabulary: TokenVocabulary, ends: readonly Uint8Array[], tail: readonly number[] = []) {
    this.#vocabulary = vocabulary;
    this.#ends = ends;
    this.#keptLength = Math.max(0, ...ends.map(end => end.length));
    this.#tail = [...tail];
  }

  /** A second one in the same state. */
  fork(): ThinkingEnd {
    return new ThinkingEnd(this.#vocabulary, this.#ends, this.#tail);
  }

  /**
   * Whether the thinking ends with this token: an end mark and at most blanks behind it. A token that goes on with
   * other text has begun something else. Mutates: remembers the token.
   */
  push(tokenId: number): boolean {
    const { bytes, offsets } = this.#vocabulary;
    const tail = this.#tail;
    for (let i = offsets[tokenId] ?? 0; i < (offsets[tokenId + 1] ?? 0); i++) tail.push(bytes[i]!);
    let length = tail.length;
    while (length > 0 && isBlank(tail[length - 1]!)) length--;
    const hasEnded = this.#ends.some(end => endsWith(tail, length, end));
    tail.splice(0, Math.max(0, tail.length - this.#keptLength));
    return hasEnded;
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function endsWith(tail: readonly number[], length: number, end: Uint8Array): boolean {
  const start = length - end.length;
  if (start < 0) return false;
  for (let i = 0; i < end.length; i++) if (tail[start + i] !== end[i]) return false;
  return true;
}
