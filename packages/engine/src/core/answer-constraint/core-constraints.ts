// Structured output in the step loop: compiles the constraints of requests and fills the token masks of a step.
// Caller: `../engine-core.ts`. The grammar engine is made for the first request that needs it: a model that never gets
// one pays neither time nor memory for it.

import {
  type ConstraintEngine,
  type ConstraintMatcher,
  GrammarRefused,
  LlguidanceEngine,
  MatcherFailed,
  type TokenVocabulary,
} from '@ortler/structured-output';
import { EngineError } from '../../errors.ts';
import type { SubmitMessage } from '../../protocol/messages.ts';
import type { TokenMask } from '../token-mask.ts';
import { SequenceConstraint } from './sequence-constraint.ts';
import { tokensAcrossTriggers } from './trigger-watch.ts';

/**
 * The masks of a row: one for the next token and one after each token of its draft; null where any token may
 * come next.
 */
export type RowMasks = readonly TokenMask[] | EngineError | null;

/** The part of a planned row that its masks depend on. */
export interface ConstrainedRow {
  readonly slot: number;
  readonly drawsToken: boolean;
  readonly tokenIds: Int32Array;
  /** How many of the last tokens are a draft. */
  readonly draftLength: number;
  readonly sequence: { readonly constraint: SequenceConstraint | null };
}

export class CoreConstraints {
  readonly #createEngine: (vocabulary: TokenVocabulary) => ConstraintEngine;
  #vocabulary: TokenVocabulary | null = null;
  #engine: ConstraintEngine | null = null;
  /** Buffers by slot, one for each mask of a row, made when they are first needed. */
  readonly #words: (Uint32Array[] | undefined)[] = [];
  /** Refilled by every step. */
  readonly #masks: RowMasks[] = [];
  #scratch: Uint32Array | null = null;

  constructor(
    createEngine = (vocabulary: TokenVocabulary): ConstraintEngine => new LlguidanceEngine(vocabulary),
  ) {
    this.#createEngine = createEngine;
  }

  setVocabulary(vocabulary: TokenVocabulary): void {
    this.#vocabulary = vocabulary;
    this.#engine = null;
    this.#scratch = null;
    this.#words.length = 0;
  }

  /** One for each choice of a request that has a constraint. Throws: `invalid_request`, `engine_failed`. */
  start({ constraint, choiceCount, eosTokenIds, stopTokenIds }: SubmitMessage): SequenceConstraint[] {
    if (constraint === undefined) return [];
    const { vocabulary, engine } = this.#ready();
    this.#scratch ??= new Uint32Array(engine.maskWordCount);
    let first: SequenceConstraint | undefined;
    try {
      const matcher: ConstraintMatcher = engine.compile(constraint.grammar);
      first = new SequenceConstraint(matcher, {
        vocabulary,
        scratch: this.#scratch,
        reasoning: constraint.reasoning,
        triggers: constraint.triggers,
        acrossTriggers:
          constraint.triggers === undefined
            ? []
            : tokensAcrossTriggers(vocabulary, constraint.triggers.texts),
        ignoredEndIds: vocabulary.eosTokenIds.filter(
          id => !eosTokenIds.includes(id) && !stopTokenIds.includes(id),
        ),
      });
      const all = [first];
      while (all.length < choiceCount) all.push(first.fork());
      return all;
    } catch (error) {
      first?.dispose();
      if (!(error instanceof GrammarRefused || error instanceof MatcherFailed)) throw error;
      throw new EngineError('invalid_request', error.message, { parameter: 'constraint', cause: error });
    }
  }

  /**
   * The masks of each row, in the plan's order; the error of one row does not fail the others. Valid until the next call.
   * Runs while the model computes these rows; it never throws.
   */
  fillMasks(rows: readonly ConstrainedRow[]): readonly RowMasks[] {
    const masks = this.#masks;
    masks.length = 0;
    for (const row of rows) {
      const { constraint } = row.sequence;
      masks.push(row.drawsToken && constraint !== null ? this.#fill(row, constraint) : null);
    }
    return masks;
  }

  #fill({ slot, tokenIds, draftLength }: ConstrainedRow, constraint: SequenceConstraint): RowMasks {
    // After a draft the text may no longer be free.
    if (draftLength === 0 && constraint.allowsAll) return null;
    try {
      this.#words[slot] ??= [];
      const words = this.#words[slot];
      while (words.length <= draftLength) words.push(new Uint32Array(this.#ready().engine.maskWordCount));
      if (draftLength === 0) return [constraint.fillMask(words[0]!)];
      return constraint.fillMasks(tokenIds.subarray(tokenIds.length - draftLength), words);
    } catch (error) {
      if (error instanceof EngineError) return error;
      const reason = error instanceof Error ? error.message : String(error);
      return new EngineError('constraint_failed', `The constraint could not be followed: ${reason}`, {
        cause: error,
      });
    }
  }

  #ready(): { readonly vocabulary: TokenVocabulary; readonly engine: ConstraintEngine } {
    const vocabulary = this.#vocabulary;
    if (vocabulary === null)
      throw new EngineError('engine_failed', 'A constraint came before the vocabulary it needs.');
    try {
      this.#engine ??= this.#createEngine(vocabulary);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError('engine_failed', `The grammar engine could not be started: ${reason}`, { cause });
    }
    return { vocabulary, engine: this.#engine };
  }
}
