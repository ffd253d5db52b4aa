// What the grammar of an answer allows next, byte by byte: a form asks where its own rules depend on it.

import type { ConstraintMatcher } from '../constraint.ts';
import type { AnswerPosition } from './answer-position.ts';
import type { JsonTokens } from './json-tokens.ts';

export class GrammarProbe {
  readonly #matcher: ConstraintMatcher;
  readonly #tokens: JsonTokens;
  /** Texts and whether the grammar allows them, at one position. */
  #allowed: { readonly at: AnswerPosition; readonly known: Map<string, boolean> } | null = null;

  /** `matcher` is at the position that is asked for. */
  constructor(matcher: ConstraintMatcher, tokens: JsonTokens) {
    this.#matcher = matcher;
    this.#tokens = tokens;
  }

  /** True where no token has this byte alone. */
  allows(byte: number): boolean {
    const tokenId = this.#tokens.ofByte(byte);
    return tokenId === undefined || this.#matcher.countFitting([tokenId]) === 1;
  }

  /** `text`: a character for each byte. True where a byte of it has no token alone. */
  allowsText(text: string, at: AnswerPosition): boolean {
    if (this.#allowed?.at !== at) this.#allowed = { at, known: new Map() };
    const { known } = this.#allowed;
    let isAllowed = known.get(text);
    if (isAllowed === undefined) {
      const ids = Array.from(text, character => this.#tokens.ofByte(character.charCodeAt(0)) ?? -1);
      isAllowed = ids.includes(-1) || this.#matcher.countFitting(ids) === ids.length;
      known.set(text, isAllowed);
    }
    return isAllowed;
  }
}
