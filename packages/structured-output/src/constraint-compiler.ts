// The whole package behind one class: a constraint -> matchers that compute token masks, for one vocabulary. A host that runs
// the front end and the masks on different threads uses `ConstraintPreparer` and `LlguidanceEngine` instead.

import { type ConstraintMatcher, GrammarRefused } from './constraint.ts';
import type { ConstraintSpec } from './constraint-spec.ts';
import { ConstraintError } from './errors.ts';
import { LlguidanceEngine } from './llguidance/llguidance-engine.ts';
import type { TokenVocabulary } from './token-vocabulary.ts';
import { ConstraintPreparer, type ConstraintPreparerOptions } from './worker/constraint-preparer.ts';

/** One constraint, compiled for the compiler's vocabulary. */
export interface CompiledConstraint {
  /** A matcher at the start of an answer, one for each sequence. Dispose of it when the sequence ends. */
  createMatcher(): ConstraintMatcher;
  /**
   * Checks a finished text against schema keywords that no grammar enforces, such as `uniqueItems`.
   * Throws: `unsatisfied` with the keyword and its place; `overloaded`, `aborted`, `closed`, `failed`.
   */
  checkText(text: string, signal?: AbortSignal): Promise<void>;
}

/** One per vocabulary. Owns a worker thread, which starts with the first constraint. */
export class ConstraintCompiler {
  readonly #engine: LlguidanceEngine;
  readonly #preparer: ConstraintPreparer;

  /** Throws: without an end-of-sequence token. */
  constructor(vocabulary: TokenVocabulary, options: Omit<ConstraintPreparerOptions, 'specialTokens'> = {}) {
    this.#engine = new LlguidanceEngine(vocabulary);
    this.#preparer = new ConstraintPreparer({ ...options, specialTokens: vocabulary.specialTokens });
  }

  /** A mask with a bit for each column of logits, for `ConstraintMatcher.fillMask`. */
  createMask(): Uint32Array {
    return new Uint32Array(this.#engine.maskWordCount);
  }

  /** Throws: `invalid_constraint`, `overloaded`, `aborted`, `closed`, `failed`. */
  async compile(spec: ConstraintSpec, signal?: AbortSignal): Promise<CompiledConstraint> {
    const prepared = await this.#preparer.prepare(spec, signal);
    const createMatcher = () => this.#createMatcher(prepared.grammar);
    // A grammar that this vocabulary cannot spell is found here, not with the first token.
    createMatcher().dispose();
    return {
      createMatcher,
      checkText: (text, textSignal) => this.#preparer.check(prepared, text, textSignal),
    };
  }

  async close(): Promise<void> {
    await this.#preparer.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #createMatcher(grammar: Parameters<LlguidanceEngine['compile']>[0]): ConstraintMatcher {
    try {
      return this.#engine.compile(grammar);
    } catch (cause) {
      if (!(cause instanceof GrammarRefused)) throw cause;
      throw new ConstraintError('invalid_constraint', cause.message, { cause });
    }
  }
}

/** Whether a mask of `ConstraintMatcher.fillMask` allows a token. */
export function allowsToken(mask: Uint32Array, tokenId: number): boolean {
  return ((mask[tokenId >>> 5]! >>> (tokenId & 31)) & 1) === 1;
}
