// A regular expression as a tree, as far as its ambiguity needs: which characters, in which order, how often.

import type { CharacterSet } from './character-set.ts';

export type RegexNode =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly items: readonly RegexNode[] }
  | RepeatNode
  /** True at the end of a text. */
  | { readonly kind: 'end' }
  /** What looks at the text around it: `^`, `\b`, a back-reference, or look-around with what it looks for. */
  | { readonly kind: 'condition'; readonly content?: RegexNode };

export interface RepeatNode {
  readonly kind: 'repeat';
  readonly content: RegexNode;
  readonly least: number;
  /** `Infinity` for no bound. */
  readonly most: number;
  /** As it is written. */
  readonly source: string;
}

/** `ecma`: JSON Schema (ECMA-262). `rust`: what llguidance reads. */
export type RegexNotation = 'ecma' | 'rust';

/** The pattern is not written in its notation, or in a part of it that this reader does not know. */
export class UnreadableRegex extends Error {
  override readonly name = 'UnreadableRegex';
}
