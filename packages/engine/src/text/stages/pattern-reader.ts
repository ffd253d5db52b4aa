// Reading the text of a regular expression, character by character.

import { unsupported } from './stage.ts';

const SUPPORTED = 'literals, classes, groups, look-around, quantifiers, alternatives, (?i:...)';

export class PatternReader {
  readonly #source: string;
  readonly #characters: readonly string[];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    this.#characters = [...source];
  }

  get isAtEnd(): boolean {
    return this.#at === this.#characters.length;
  }

  /** Whether `text` is next, `offset` characters ahead. */
  peek(text: string, offset = 0): boolean {
    return [...text].every((character, i) => this.#characters[this.#at + offset + i] === character);
  }

  /** Reads `text` if it is next. */
  skip(text: string): boolean {
    if (!this.peek(text)) return false;
    this.#at += [...text].length;
    return true;
  }

  /** Reads what the pattern matches, if it is next. The pattern matches ASCII only, 16 characters at most. */
  take(pattern: RegExp): RegExpExecArray | null {
    const found = pattern.exec(this.ahead(16));
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  /** Throws: `model_invalid` at the end. */
  next(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw this.refuse('an end in the middle');
    return character;
  }

  /** Reads up to `end` and over it. */
  until(end: string): string {
    let text = '';
    while (!this.skip(end)) text += this.next();
    return text;
  }

  ahead(count: number): string {
    return this.#characters.slice(this.#at, this.#at + count).join('');
  }

  /** `model_invalid` naming what is not supported. */
  refuse(found: string): Error {
    return refusePattern(this.#source, found);
  }
}

/** `model_invalid` naming what is not supported; without `found` the whole pattern. */
export function refusePattern(source: string, found?: string): Error {
  return unsupported(
    'regular expression',
    source,
    found === undefined ? SUPPORTED : `${SUPPORTED}; not: ${found}`,
  );
}
