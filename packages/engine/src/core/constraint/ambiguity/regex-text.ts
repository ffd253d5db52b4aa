// A regular expression's text with the place that is read next.

import { UnreadableRegex } from './regex-node.ts';

export class RegexText {
  readonly source: string;
  at = 0;

  constructor(source: string) {
    this.source = source;
  }

  get isAtEnd(): boolean {
    return this.at >= this.source.length;
  }

  startsWith(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }

  /** Whether the text stood here, which it then has been read. */
  take(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.at += text.length;
    return true;
  }

  /** What a sticky expression finds here, which then has been read. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.source);
    if (match !== null) this.at += match[0].length;
    return match;
  }

  /** One character, which may be two code units. Throws: `UnreadableRegex` at the end. */
  next(): string {
    const code = this.source.codePointAt(this.at);
    if (code === undefined) throw new UnreadableRegex('The expression ends too early');
    const character = String.fromCodePoint(code);
    this.at += character.length;
    return character;
  }
}
