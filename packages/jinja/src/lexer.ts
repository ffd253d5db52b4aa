// Template text to tokens. Whitespace follows the settings that chat templates are written for: `trim_blocks`
// and `lstrip_blocks` on, the last newline of the template dropped. Source: jinja2 3.1 lexer.

import { TemplateError } from './template-error.ts';

export type TokenKind =
  | 'data'
  | 'variable-begin'
  | 'variable-end'
  | 'block-begin'
  | 'block-end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

const TAG_BEGIN = /\{(?:%|\{|#)/g;
const RAW_BEGIN = /\{%[-+]?\s*raw\s*(-?)%\}/y;
const RAW_END = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const FLOAT = /(?:\d+_)*\d+(?:\.(?:\d+_)*\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)/y;
const INTEGER = /0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|\d(?:_?\d)*/y;
const STRING = /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+*/%~<>=()[\]{},.:|;]/y;
const SPACE = /\s+/y;
const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Throws: `TemplateError`. */
export function tokenizeTemplate(template: string): Token[] {
  return new Lexer(template.replace(/\r\n|\r/g, '\n').replace(/\n$/, '')).run();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  #counted = 0;
  /** The next character begins a line in the sense of `lstrip_blocks`. */
  #isLineStart = true;

  constructor(source: string) {
    this.#source = source;
  }

  run(): Token[] {
    while (this.#at < this.#source.length) {
      TAG_BEGIN.lastIndex = this.#at;
      const tag = TAG_BEGIN.exec(this.#source);
      if (tag === null) {
        this.#data(this.#source.slice(this.#at), this.#at);
        break;
      }
      this.#tag(tag[0], tag.index);
    }
    this.#at = this.#source.length;
    this.#push('end', '');
    return this.#tokens;
  }

  #tag(opener: string, begin: number): void {
    const sign = this.#source[begin + 2] ?? '';
    let text = this.#source.slice(this.#at, begin);
    if (sign === '-') text = trimEnd(text);
    else if (sign !== '+' && opener !== '{{') text = this.#stripLineStart(text);
    this.#data(text, this.#at);
    this.#at = begin;
    RAW_BEGIN.lastIndex = begin;
    const raw = opener === '{%' ? RAW_BEGIN.exec(this.#source) : null;
    if (raw !== null) this.#raw(raw);
    else if (opener === '{#') this.#comment(begin);
    else this.#code(opener, begin + (sign === '-' || (sign === '+' && opener === '{%') ? 3 : 2));
  }

  /** Spaces between the start of the line and a block tag are dropped. */
  #stripLineStart(text: string): string {
    const lineStart = text.lastIndexOf('\n') + 1;
    if (lineStart === 0 && !this.#isLineStart) return text;
    return /^\s+$/.test(text.slice(lineStart)) ? text.slice(0, lineStart) : text;
  }

  #comment(begin: number): void {
    const end = this.#source.indexOf('#}', begin + 2);
    if (end === -1) throw new TemplateError('Missing end of comment tag.', this.#lineAt(begin));
    this.#leave(end + 2, this.#source[end - 1] ?? '', true);
  }

  #raw(begin: RegExpExecArray): void {
    this.#at = begin.index + begin[0].length;
    if (begin[1] === '-') this.#skipSpace();
    RAW_END.lastIndex = this.#at;
    const end = RAW_END.exec(this.#source);
    if (end === null) throw new TemplateError('Missing end of raw directive.', this.#lineAt(begin.index));
    let text = this.#source.slice(this.#at, end.index);
    if (end[1] === '-') text = trimEnd(text);
    else if (end[1] !== '+') text = this.#stripLineStart(text);
    this.#data(text, this.#at);
    this.#leave(end.index + end[0].length, end[2] ?? '', true);
  }

  #code(opener: string, at: number): void {
    const isBlock = opener === '{%';
    this.#push(isBlock ? 'block-begin' : 'variable-begin', opener);
    this.#at = at;
    const closer = isBlock ? '%}' : '}}';
    const open: string[] = [];
    for (;;) {
      this.#skipSpace();
      const { line } = this;
      if (this.#at >= this.#source.length)
        throw new TemplateError(`Unexpected end of template, expected ${closer}.`, line);
      if (open.length === 0) {
        const sign = /[-+]/.test(this.#source[this.#at]!) ? this.#source[this.#at]! : '';
        if (this.#source.startsWith(closer, this.#at + sign.length) && (sign !== '+' || isBlock)) {
          this.#push(isBlock ? 'block-end' : 'variable-end', closer);
          this.#leave(this.#at + sign.length + 2, sign, isBlock);
          return;
        }
      }
      this.#codeToken(open);
    }
  }

  #codeToken(open: string[]): void {
    const line = this.line;
    const take = (pattern: RegExp): string | null => {
      pattern.lastIndex = this.#at;
      return pattern.exec(this.#source)?.[0] ?? null;
    };
    const kinds = [
      ['float', FLOAT],
      ['integer', INTEGER],
      ['name', NAME],
      ['string', STRING],
      ['operator', OPERATOR],
    ] as const;
    for (const [kind, pattern] of kinds) {
      const text = take(pattern);
      if (text === null) continue;
      if (kind === 'operator') this.#balance(text, open, line);
      this.#push(kind, text);
      this.#at += text.length;
      return;
    }
    throw new TemplateError(`Unexpected character ${JSON.stringify(this.#source[this.#at])}.`, line);
  }

  #balance(text: string, open: string[], line: number): void {
    const closer = CLOSERS[text];
    if (closer !== undefined) open.push(closer);
    else if (text === ')' || text === ']' || text === '}') {
      if (open.pop() !== text) throw new TemplateError(`Unexpected "${text}".`, line);
    }
  }

  /** Moves past a tag, and past the newline after a block or comment. */
  #leave(end: number, sign: string, trimsNewline: boolean): void {
    const before = this.#at;
    this.#at = end;
    if (sign === '-') this.#skipSpace();
    else if (sign !== '+' && trimsNewline && this.#source[end] === '\n') this.#at++;
    this.#isLineStart = this.#at > before && this.#source[this.#at - 1] === '\n';
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#source)?.[0].length ?? 0;
  }

  #data(text: string, at: number): void {
    if (text.length > 0) this.#tokens.push({ kind: 'data', text, line: this.#lineAt(at) });
  }

  #push(kind: TokenKind, text: string): void {
    this.#tokens.push({ kind, text, line: this.line });
  }

  get line(): number {
    return this.#lineAt(this.#at);
  }

  #lineAt(at: number): number {
    if (at < this.#counted) {
      this.#counted = 0;
      this.#line = 1;
    }
    for (; this.#counted < at; this.#counted++) if (this.#source[this.#counted] === '\n') this.#line++;
    return this.#line;
  }
}

function trimEnd(text: string): string {
  return text.replace(/\s+$/, '');
}
