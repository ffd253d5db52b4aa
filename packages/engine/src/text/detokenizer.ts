// Streaming detokenizer: token ids to text, one at a time. The joined pieces are the text of all ids: a character whose bytes
// come in several tokens is held back until it is complete, and text is never changed afterwards.

import type { TokenBytes } from './token-bytes.ts';
import { Utf8Decoder } from './utf8-decoder.ts';

export interface DetokenizerOptions {
  /** Special tokens give no text. */
  readonly skipSpecialTokens: boolean;
  /** Special tokens that give text even so. */
  readonly shownSpecialIds?: ReadonlySet<number>;
  /** Tokens before the first one pushed. Without any, the first token starts the text and may lose its space. */
  readonly promptTokenIds?: ArrayLike<number>;
}

/** A character has at most four bytes, so this many tokens back hold every byte of an open one. */
const LONGEST_OPEN_CHARACTER = 4;

export class Detokenizer {
  readonly #tokenBytes: TokenBytes;
  readonly #skipSpecialTokens: boolean;
  readonly #shownSpecialIds: ReadonlySet<number> | undefined;
  readonly #decoder: Utf8Decoder;
  /** No token has given text yet and none of the prompt did: the next one starts the text. */
  #isAtStart = true;

  constructor(tokenBytes: TokenBytes, options: DetokenizerOptions) {
    this.#tokenBytes = tokenBytes;
    this.#skipSpecialTokens = options.skipSpecialTokens;
    this.#shownSpecialIds = options.shownSpecialIds;
    this.#decoder = new Utf8Decoder(tokenBytes.replacesEachByte ? 'each-byte' : 'maximal-part');
    if (options.promptTokenIds !== undefined) this.#prime(options.promptTokenIds);
  }

  /** Text that this token completes; empty while a character is open and for skipped tokens. */
  push(tokenId: number): string {
    const bytes = this.#visibleBytes(tokenId);
    if (bytes === null) return '';
    if (!this.#isAtStart) return this.#decoder.push(bytes);
    this.#isAtStart = false;
    return this.#decoder.push(this.#startOfText(tokenId, bytes));
  }

  /** The rest after the last token: U+FFFD for an incomplete character, otherwise the empty string. */
  finish(): string {
    return this.#decoder.finish();
  }

  #visibleBytes(tokenId: number): Uint8Array | null {
    if (
      this.#skipSpecialTokens &&
      this.#tokenBytes.isSpecial(tokenId) &&
      !this.#shownSpecialIds?.has(tokenId)
    ) {
      return null;
    }
    const bytes = this.#tokenBytes.bytesOf(tokenId);
    return bytes.length === 0 ? null : bytes;
  }

  #startOfText(tokenId: number, bytes: Uint8Array): Uint8Array {
    const space = 0x20;
    switch (this.#tokenBytes.textStartRule) {
      case 'keep':
        return bytes;
      case 'strip-one-space':
        return bytes[0] === space ? bytes.subarray(1) : bytes;
      case 'strip-marks':
        return this.#tokenBytes.hasMarks(tokenId) ? bytes.filter(byte => byte !== space) : bytes;
    }
  }

  /** Takes up an open character of the prompt's end, and notes whether the prompt gave any text. */
  #prime(promptTokenIds: ArrayLike<number>): void {
    const tail: Uint8Array[] = [];
    for (let i = promptTokenIds.length - 1; i >= 0 && tail.length < LONGEST_OPEN_CHARACTER; i--) {
      const bytes = this.#visibleBytes(promptTokenIds[i]!);
      if (bytes !== null) tail.push(bytes);
    }
    for (const bytes of tail.reverse()) this.#decoder.push(bytes);
    this.#decoder.skipToHere();
    this.#isAtStart = tail.length === 0;
  }
}

/** Text of a whole list of ids. */
export function detokenize(
  tokenBytes: TokenBytes,
  tokenIds: ArrayLike<number>,
  options: Omit<DetokenizerOptions, 'promptTokenIds'>,
): string {
  const detokenizer = new Detokenizer(tokenBytes, options);
  let text = '';
  for (let i = 0; i < tokenIds.length; i++) text += detokenizer.push(tokenIds[i]!);
  return text + detokenizer.finish();
}
