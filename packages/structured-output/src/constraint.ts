// The interface of constrained decoding: a prepared grammar, an engine that compiles it for one vocabulary, and a matcher for
// each sequence. llguidance is the one implementation.

import type { JsonForm } from './json-form.ts';

/** A grammar of the whole answer, in one of the notations of llguidance. */
export interface Grammar {
  readonly kind: 'json_schema' | 'regex' | 'lark';
  readonly text: string;
  /** The whole answer is JSON of this form. Default: the grammar alone decides. */
  readonly form?: JsonForm;
}

/** A constraint that was compiled by the front end: plain data that can cross threads. */
export interface PreparedConstraint {
  readonly grammar: Grammar;
  /** JSON Schema, as text, for the final check of a finished text; null when the grammar enforces all of it. */
  readonly check: string | null;
}

/** One per model. Not for several threads. */
export interface ConstraintEngine {
  /** 32-bit words of a mask: one bit for each column of logits. */
  readonly maskWordCount: number;
  /** A matcher at the start of an answer. Throws: `GrammarRefused`; `MatcherFailed` when the engine died of it. */
  compile(grammar: Grammar): ConstraintMatcher;
}

/**
 * The parser state of one sequence. Every method throws `MatcherFailed` when a limit was exceeded or the instance died; such a
 * matcher is of no further use, all others go on.
 */
export interface ConstraintMatcher {
  /**
   * The tokens that may come next. Shape: `[maskWordCount]`, bit `i % 32` of word `i / 32` is token `i`. All end
   * tokens are allowed exactly when the text so far is complete. Mutates: `mask`.
   */
  fillMask(mask: Uint32Array): void;
  /** Advances by one token; false, and nothing changes, when the grammar does not allow it. */
  accept(tokenId: number): boolean;
  /** Length of the longest prefix of the tokens that the grammar allows, for draft tokens. Changes nothing. */
  countFitting(tokenIds: readonly number[]): number;
  /** The text so far is complete; more may follow unless `mustStop`. */
  canStop(): boolean;
  /** Nothing but an end token may follow. Before the first token this may be false although the mask says so. */
  mustStop(): boolean;
  /** A second matcher in the same state. */
  fork(): ConstraintMatcher;
  /** Takes back the last accepted tokens. Throws: when there are fewer. */
  rollback(count: number): void;
  /** Frees the memory behind the matcher, which must not be used again. Legal any number of times. */
  dispose(): void;
}

/** The caller's grammar cannot be compiled; the message says why. */
export class GrammarRefused extends Error {
  override readonly name = 'GrammarRefused';
}

/** A matcher can no longer be followed; its sequence ends with an error. */
export class MatcherFailed extends Error {
  override readonly name = 'MatcherFailed';
}
