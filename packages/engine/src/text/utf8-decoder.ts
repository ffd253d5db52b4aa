// Streaming UTF-8 decoder: never emits a partial character, and its output does not depend on how the bytes were divided.
// Invalid bytes become U+FFFD in one of two published ways.

const REPLACEMENT = '\ufffd';

/**
 * `maximal-part`: one U+FFFD for the longest start of a character that was cut (the WHATWG and Rust rule).
 * `each-byte`: one U+FFFD for each byte of it (the rule of byte-fallback decoders).
 */
export type BadByteRule = 'maximal-part' | 'each-byte';

/** Incremental UTF-8 decoder. Source: the state machine of the WHATWG Encoding Standard, section 8.1.1. */
export class Utf8Decoder {
  readonly #rule: BadByteRule;
  #codePoint = 0;
  /** Continuation bytes the open character still needs; 0 when none is open. */
  #missingCount = 0;
  /** Bytes of the open character so far. */
  #seenCount = 0;
  /** How many U+FFFD of the open character, should it be cut, belong to the text before `skipToHere`. */
  #skippedCount = 0;
  #lower = 0x80;
  #upper = 0xbf;

  constructor(rule: BadByteRule) {
    this.#rule = rule;
  }

  push(bytes: Uint8Array): string {
    let text = '';
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (this.#missingCount === 0) {
        text += this.#start(byte);
      } else if (byte < this.#lower || byte > this.#upper) {
        // The open character is invalid; this byte starts a new one.
        text += this.#breakOpen() + this.#start(byte);
      } else {
        this.#lower = 0x80;
        this.#upper = 0xbf;
        this.#codePoint = (this.#codePoint << 6) | (byte & 0x3f);
        this.#seenCount++;
        if (--this.#missingCount === 0) text += String.fromCodePoint(this.#codePoint);
      }
    }
    return text;
  }

  /**
   * The bytes so far are of another text. A character that is open is part of what follows if it becomes complete; if it is cut, its
   * U+FFFD belongs to the other text.
   */
  skipToHere(): void {
    this.#skippedCount = this.#missingCount === 0 ? 0 : this.#replacementCount;
  }

  /** The rest after the last byte: U+FFFD for an incomplete character, otherwise the empty string. */
  finish(): string {
    return this.#missingCount === 0 ? '' : this.#breakOpen();
  }

  #start(byte: number): string {
    if (byte < 0x80) return String.fromCharCode(byte);
    if (byte >= 0xc2 && byte <= 0xdf) return this.#open(byte & 0x1f, 1, 0x80, 0xbf);
    if (byte >= 0xe0 && byte <= 0xef) {
      return this.#open(byte & 0x0f, 2, byte === 0xe0 ? 0xa0 : 0x80, byte === 0xed ? 0x9f : 0xbf);
    }
    if (byte >= 0xf0 && byte <= 0xf4) {
      return this.#open(byte & 0x07, 3, byte === 0xf0 ? 0x90 : 0x80, byte === 0xf4 ? 0x8f : 0xbf);
    }
    return REPLACEMENT;
  }

  #open(bits: number, missingCount: number, lower: number, upper: number): string {
    this.#codePoint = bits;
    this.#missingCount = missingCount;
    this.#seenCount = 1;
    this.#skippedCount = 0;
    this.#lower = lower;
    this.#upper = upper;
    return '';
  }

  get #replacementCount(): number {
    return this.#rule === 'each-byte' ? this.#seenCount : 1;
  }

  #breakOpen(): string {
    const count = this.#replacementCount - this.#skippedCount;
    this.#missingCount = 0;
    this.#lower = 0x80;
    this.#upper = 0xbf;
    return REPLACEMENT.repeat(count);
  }
}
