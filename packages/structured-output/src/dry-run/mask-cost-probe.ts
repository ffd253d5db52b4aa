// Measures the cost of token masks on short random walks through a grammar. Nested counted repetitions have so many parses
// that a mask can exceed its lexer fuel; such a grammar is refused before generation starts. Owned by the constraint worker.

import { type ConstraintMatcher, type Grammar, MatcherFailed } from '../constraint.ts';
import { LlguidanceEngine } from '../llguidance/llguidance-engine.ts';
import { DEFAULT_LLGUIDANCE_LIMITS } from '../llguidance/llguidance-instance.ts';
import type { SpecialToken } from '../token-vocabulary.ts';
import { byteVocabulary } from './byte-vocabulary.ts';

/**
 * Share of a mask's lexer fuel. A mask over a real vocabulary reads several characters ahead, one over single bytes reads
 * one: with a quarter, the patterns that fail here are those that fail on 151,936 tokens.
 */
const FUEL_SHARE = 0.25;
const WALKS = 3;
const WALK_LENGTH = 150;
const MEMORY_BYTES = 2 ** 28;

export class MaskCostProbe {
  readonly #specialTokens: readonly SpecialToken[];
  #engine: LlguidanceEngine | null = null;

  constructor(specialTokens: readonly SpecialToken[]) {
    this.#specialTokens = specialTokens;
  }

  /** False when a mask exceeds its budget within 150 characters. Throws: `GrammarRefused`. */
  fitsBudget(grammar: Grammar): boolean {
    this.#engine ??= new LlguidanceEngine(byteVocabulary(this.#specialTokens), {
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
        walk(matcher, this.#engine, { seed, length: WALK_LENGTH });
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

/**
 * Accepts one allowed byte after the other: the median one with seed 0, otherwise a pseudo-random one.
 * Throws: `MatcherFailed`.
 */
export function walk(
  matcher: ConstraintMatcher,
  { maskWordCount, vocabulary }: LlguidanceEngine,
  { seed, length }: { readonly seed: number; readonly length: number },
): void {
  const mask = new Uint32Array(maskWordCount);
  let state = seed;
  for (let step = 0; step < length; step++) {
    matcher.fillMask(mask);
    const allowed: number[] = [];
    for (let id = 0; id < vocabulary.columnCount; id++) {
      const isAllowed = ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
      if (isAllowed && !vocabulary.eosTokenIds.includes(id)) allowed.push(id);
    }
    if (allowed.length === 0) return;
    // The linear congruential generator of Numerical Recipes: its quality does not matter here.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const pick = seed === 0 ? allowed.length >> 1 : Math.floor((state / 2 ** 32) * allowed.length);
    if (!matcher.accept(allowed[pick]!)) return;
  }
}
