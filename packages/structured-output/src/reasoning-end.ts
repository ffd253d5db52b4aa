// Finds the end marker of a reasoning block in the bytes of the tokens, because a tokenizer may split the marker anywhere.

import type { TokenVocabulary } from './token-vocabulary.ts';

export class ReasoningEnd {
  readonly #vocabulary: TokenVocabulary;
  readonly #ends: readonly Uint8Array[];
  readonly #keptLength: number;
  /** The last bytes of the reasoning: as many as the longest end marker has. */
  readonly #tail: number[];

  /** `tail`: the last bytes of the reasoning so far. */
  constructor(vocabulary: TokenVocabulary, ends: readonly Uint8Array[], tail: readonly number[] = []) {
    this.#vocabulary = vocabulary;
    this.#ends = ends;
    this.#keptLength = Math.max(0, ...ends.map(end => end.length));
    this.#tail = [...tail];
  }

  /** A second one in the same state. */
  fork(): ReasoningEnd {
    return new ReasoningEnd(this.#vocabulary, this.#ends, this.#tail);
  }

  /**
   * Whether the reasoning ends with this token: an end marker, followed by white space at most. A token with other text
   * after the marker does not end it. Mutates: appends the token.
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
