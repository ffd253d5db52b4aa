// What a constraint is to the token side: a grammar that was prepared from a request, an engine that compiles it for
// the model's vocabulary, and a matcher for each sequence. llguidance is the one implementation.

/** A whole-answer grammar in one of the notations of llguidance, as `prepareConstraint` writes it. */
export interface Grammar {
  readonly kind: 'json_schema' | 'regex' | 'lark';
  readonly text: string;
  /** The answer is JSON as a whole, with as much white space between its parts as indented lines need. Default: no bound. */
  readonly boundsWhitespace?: true;
}

/** What the front end makes of a request's constraint. */
export interface PreparedConstraint {
  readonly grammar: Grammar;
  /** JSON Schema, as text, that a finished text must still be checked against; null when the grammar says it all. */
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
 * Follows one sequence. Every method throws `MatcherFailed` when the grammar became too costly or broke the engine;
 * such a matcher is of no further use, all others go on.
 */
export interface ConstraintMatcher {
  /**
   * The tokens that may come next. Shape: `[maskWordCount]`, bit `i % 32` of word `i / 32` is token `i`. All end
   * tokens are allowed exactly when the text so far is complete. Mutates: `mask`.
   */
  fillMask(mask: Uint32Array): void;
  /** Takes a token over; false, and nothing changes, when it may not come next. */
  accept(tokenId: number): boolean;
  /** How many of the tokens, one after the other, could be accepted. Changes nothing. */
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
