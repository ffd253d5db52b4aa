// Reads JSON from its bytes, for the parts of tokenizer.json that are too large for JSON.parse: a vocabulary of 262,144 tokens
// would become as many strings, and its merges twice as many.

import { type ByteSink, encodeCodePoint } from './byte-sink.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Bytes after a backslash that stand for one character, other than `u`. */
const ESCAPES: ReadonlyMap<number, number> = new Map(
  [...'"\\/bfnrt'].map((letter, i) => [letter.charCodeAt(0), '"\\/\b\f\n\r\t'.charCodeAt(i)]),
);

/** A position in JSON text. Every method throws `SyntaxError` where the text is something else. */
export class JsonScanner {
  at: number;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** The next byte that is not white space, which stays ahead. -1 at the end. */
  peek(): number {
    for (; this.at < this.bytes.length; this.at++) {
      const byte = this.bytes[this.at]!;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
    }
    return -1;
  }

  /** Whether the character comes next, which is passed then. */
  skip(character: string): boolean {
    if (this.peek() !== character.charCodeAt(0)) return false;
    this.at++;
    return true;
  }

  expect(character: string): void {
    if (!this.skip(character)) throw this.fault(`"${character}"`);
  }

  /**
   * Walks over the entries of an object, or the items of a list: `visit` reads one of them, and the comma after it is passed.
   * Each entry begins at its key.
   */
  each(opening: '{' | '[', visit: () => void): void {
    const closing = opening === '{' ? '}' : ']';
    this.expect(opening);
    if (this.skip(closing)) return;
    do visit();
    while (this.skip(','));
    this.expect(closing);
  }

  /** Passes a value of any kind. The content of a container is not checked. */
  skipValue(): void {
    const { bytes } = this;
    let depth = 0;
    this.peek();
    do {
      const byte = bytes[this.at++];
      if (byte === QUOTE) this.#skipText();
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
      else if (byte === undefined) throw this.fault('a value');
      else if (depth === 0) this.#skipScalar();
    } while (depth > 0);
  }

  #skipScalar(): void {
    for (; this.at < this.bytes.length; this.at++) {
      const byte = this.bytes[this.at]!;
      if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20) return;
    }
  }

  /** Passes a text whose quote has been passed. */
  #skipText(): void {
    const { bytes } = this;
    let { at } = this;
    for (;;) {
      const byte = bytes[at++];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) at++;
      else if (byte === undefined) throw this.fault('the end of a text');
    }
    this.at = at;
  }

  /** Appends the text's UTF-8 to the sink. */
  readString(sink: ByteSink): void {
    this.expect('"');
    const { bytes } = this;
    for (;;) {
      const byte = bytes[this.at++];
      if (byte === QUOTE) return;
      if (byte === undefined || byte < 0x20) throw this.fault('a character of a text');
      if (byte === BACKSLASH) this.#readEscape(sink);
      else sink.push(byte);
    }
  }

  #readEscape(sink: ByteSink): void {
    const letter = this.bytes[this.at++]!;
    const plain = ESCAPES.get(letter);
    if (plain !== undefined) {
      sink.push(plain);
      return;
    }
    if (letter !== 0x75) throw this.fault('an escape');
    let codePoint = this.#readHex();
    if (codePoint >= 0xd800 && codePoint < 0xdc00) {
      // The second half of a pair; half a pair is not a character.
      const isPair = this.bytes[this.at] === BACKSLASH && this.bytes[this.at + 1] === 0x75;
      this.at += 2;
      const low = isPair ? this.#readHex() : 0;
      if (low < 0xdc00 || low > 0xdfff) throw this.fault('the second half of a surrogate pair');
      codePoint = 0x10000 + ((codePoint - 0xd800) << 10) + (low - 0xdc00);
    } else if (codePoint >= 0xdc00 && codePoint < 0xe000)
      throw this.fault('the first half of a surrogate pair');
    encodeCodePoint(codePoint, sink);
  }

  #readHex(): number {
    const digits = String.fromCharCode(...this.bytes.subarray(this.at, this.at + 4));
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.fault('four hexadecimal digits');
    this.at += 4;
    return Number.parseInt(digits, 16);
  }

  /**
   * A whole number without sign below 2^31; undefined where there is something else, which is not passed
   * then.
   */
  readWholeNumber(): number | undefined {
    const start = this.at;
    let value = 0;
    this.peek();
    const first = this.at;
    for (; ; this.at++) {
      const digit = this.bytes[this.at]! - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
      if (value > 0x7fffffff) break;
    }
    const next = this.bytes[this.at];
    const isWhole =
      this.at > first &&
      next !== undefined &&
      (next === COMMA || next === CLOSE_BRACE || next === CLOSE_BRACKET || next <= 0x20);
    if (isWhole) return value;
    this.at = start;
    return undefined;
  }

  /** For a value that was expected and is not there. */
  fault(expected: string): SyntaxError {
    return new SyntaxError(`expected ${expected} at byte ${Math.min(this.at, this.bytes.length)}`);
  }
}
