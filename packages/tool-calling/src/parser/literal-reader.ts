// Reads one value in the notation of Python or of a template, and gives it as JSON. JSON itself is read as well.

import type { LiteralNotation } from '../tool-dialect.ts';

const NUMBER = /[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
/** At the end of the text: the digits of the exponent may still be to come. */
const OPEN_EXPONENT = /[eE][-+]?$/y;
const BARE_KEY = /[^\s:,{}[\]]+/y;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '\n': '',
};

export class LiteralReader {
  readonly #text: string;
  readonly #notation: LiteralNotation;
  /** The place after what was read. */
  at: number;

  constructor(text: string, at: number, notation: LiteralNotation) {
    this.#text = text;
    this.at = at;
    this.#notation = notation;
  }

  /** The JSON of the value here; null where it is not complete or no value. */
  read(): string | null {
    this.#skipBlanks();
    const { quote } = this.#notation;
    if (quote !== 'json' && this.#text.startsWith(quote.mark, this.at)) return this.#readMarked(quote.mark);
    switch (this.#text[this.at]) {
      case '"':
      case "'":
        return this.#readQuoted();
      case '[':
        return this.#readItems(']', () => this.read());
      case '{':
        return this.#readItems('}', () => this.#readEntry());
      default:
        return this.#readWord() ?? this.#readNumber();
    }
  }

  #readMarked(mark: string): string | null {
    const start = this.at + mark.length;
    const end = this.#text.indexOf(mark, start);
    if (end === -1) return null;
    this.at = end + mark.length;
    return JSON.stringify(this.#text.slice(start, end));
  }

  #readQuoted(): string | null {
    const quote = this.#text[this.at];
    let value = '';
    for (let at = this.at + 1; at < this.#text.length; at++) {
      const character = this.#text[at]!;
      if (character === quote) {
        this.at = at + 1;
        return JSON.stringify(value);
      }
      if (character !== '\\') {
        value += character;
        continue;
      }
      const escaped = this.#readEscape(at + 1);
      if (escaped === null) return null;
      value += escaped.value;
      at = escaped.end - 1;
    }
    return null;
  }

  #readEscape(at: number): { readonly value: string; readonly end: number } | null {
    const letter = this.#text[at];
    if (letter === undefined) return null;
    const length = { x: 2, u: 4, U: 8 }[letter];
    if (length === undefined) return { value: ESCAPES[letter] ?? letter, end: at + 1 };
    const digits = this.#text.slice(at + 1, at + 1 + length);
    if (digits.length < length) return null;
    const code = Number.parseInt(digits, 16);
    const value = Number.isNaN(code) || code > 0x10ffff ? letter + digits : String.fromCodePoint(code);
    return { value, end: at + 1 + length };
  }

  #readItems(end: string, readItem: () => string | null): string | null {
    const items: string[] = [];
    this.at++;
    for (;;) {
      this.#skipBlanks();
      if (this.#text[this.at] === end) {
        this.at++;
        return end === ']' ? `[${items.join(', ')}]` : `{${items.join(', ')}}`;
      }
      if (items.length > 0) {
        if (this.#text[this.at] !== ',') return null;
        this.at++;
        this.#skipBlanks();
      }
      const item = readItem();
      if (item === null) return null;
      items.push(item);
    }
  }

  #readEntry(): string | null {
    const key = this.#notation.keys === 'bare' ? this.#readBareKey() : this.read();
    if (key === null) return null;
    this.#skipBlanks();
    if (this.#text[this.at] !== ':') return null;
    this.at++;
    const value = this.read();
    return value === null ? null : `${key}: ${value}`;
  }

  #readBareKey(): string | null {
    const key = this.#match(BARE_KEY);
    return key === null ? null : JSON.stringify(key);
  }

  #readWord(): string | null {
    const { words } = this.#notation;
    for (const name of ['true', 'false', 'null'] as const) {
      for (const word of [words[name], name]) {
        if (!this.#text.startsWith(word, this.at)) continue;
        this.at += word.length;
        return name;
      }
    }
    return null;
  }

  #readNumber(): string | null {
    const written = this.#match(NUMBER);
    if (written === null || this.#match(OPEN_EXPONENT) !== null) return null;
    const digits = written.replaceAll('_', '').replace(/^\+/, '');
    // Python writes `.5` and `1.`, JSON does not.
    return digits.replace(/^(-?)\./, '$10.').replace(/\.(?=$|[eE])/, '');
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return null;
    this.at += found.length;
    return found;
  }

  #skipBlanks(): void {
    while (/\s/.test(this.#text[this.at] ?? '')) this.at++;
  }
}
