// Tries on short texts whether a grammar can be followed at all. Counted repetitions of something that is counted itself can
// be read in so many ways that the work for a mask passes its limit; better to know it before an answer is begun.
// The worker that prepares constraints owns one.

import { type ConstraintMatcher, type Grammar, MatcherFailed } from '../constraint.ts';
import { LlguidanceEngine } from '../llguidance/llguidance-engine.ts';
import { DEFAULT_LLGUIDANCE_LIMITS } from '../llguidance/llguidance-instance.ts';
import type { SpecialToken } from '../token-vocabulary.ts';
import { trialVocabulary } from './byte-vocabulary.ts';

/**
 * Of the work that a mask may take. A mask over a vocabulary looks several characters ahead, one over single bytes only one:
 * with a quarter, the patterns that fail here are those that fail on 151,936 tokens.
 */
const FUEL_SHARE = 0.25;
const WALKS = 3;
const WALK_LENGTH = 150;
const MEMORY_BYTES = 2 ** 28;

export class GrammarTrial {
  readonly #specialTokens: readonly SpecialToken[];
  #engine: LlguidanceEngine | null = null;

  constructor(specialTokens: readonly SpecialToken[]) {
    this.#specialTokens = specialTokens;
  }

  /** False when a text of up to 150 characters leads to a mask that costs too much. Throws: `GrammarRefused`. */
  canFollow(grammar: Grammar): boolean {
    this.#engine ??= new LlguidanceEngine(trialVocabulary(this.#specialTokens), {
      cacheBytes: 0,
      memoryBytes: MEMORY_BYTES,
      limits: {
        ...DEFAULT_LLGUIDANCE_LIMITS,
        stepLexerFuel: DEFAULT_LLGUIDANCE_LIMITS.stepLexerFuel * FUEL_SHARE,
      },
    });
    for (let seed = 0; seed < WALKS; seed++) {
      const matcher = this.#engine.compile(grammar);
      try {
        walk(matcher, this.#engine, seed);
      } catch (error) {
        if (!(error instanceof MatcherFailed)) throw error;
        return false;
      } finally {
        matcher.dispose();
      }
    }
    return true;
  }
}

/** Takes one of the allowed bytes after the other: always the same sort with seed 0, otherwise any. */
function walk(
  matcher: ConstraintMatcher,
  { maskWordCount, vocabulary }: LlguidanceEngine,
  seed: number,
): void {
  const mask = new Uint32Array(maskWordCount);
  let state = seed;
  for (let step = 0; step < WALK_LENGTH; step++) {
    matcher.fillMask(mask);
    const allowed: number[] = [];
    for (let id = 0; id < vocabulary.columnCount; id++) {
      const isAllowed = ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
      if (isAllowed && !vocabulary.eosTokenIds.includes(id)) allowed.push(id);
    }
    if (allowed.length === 0) return;
    // Numerical Recipes' generator: any spread will do.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const pick = seed === 0 ? allowed.length >> 1 : Math.floor((state / 2 ** 32) * allowed.length);
    if (!matcher.accept(allowed[pick]!)) return;
  }
}
