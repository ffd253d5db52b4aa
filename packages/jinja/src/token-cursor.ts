// A place in the tokens of a template, and what a parser asks of it.

import type { Token, TokenKind } from './lexer.ts';
import { TemplateError } from './template-error.ts';

export class TokenCursor {
  readonly tokens: readonly Token[];
  at = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get current(): Token {
    return this.tokens[this.at]!;
  }

  /** Whether the current token is this name or operator. */
  is(text: string, kind: TokenKind = /^\w/.test(text) ? 'name' : 'operator'): boolean {
    return this.current.kind === kind && this.current.text === text;
  }

  skip(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  expect(text: string): Token {
    const token = this.current;
    if (!this.is(text)) throw this.unexpected(`"${text}"`);
    this.at++;
    return token;
  }

  expectName(): Token {
    const token = this.current;
    if (token.kind !== 'name') throw this.unexpected('a name');
    this.at++;
    return token;
  }

  unexpected(wanted: string): TemplateError {
    const { kind, text, line } = this.current;
    return new TemplateError(
      `Expected ${wanted}, found ${kind === 'end' ? 'the end of the template' : `"${text}"`}.`,
      line,
    );
  }
}
