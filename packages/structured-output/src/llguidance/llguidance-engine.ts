// The constraint engine of one model on llguidance. A call that traps has killed the whole WebAssembly instance, with
// every matcher in it: the engine then builds a new one, and each matcher replays its tokens when it is next used.

import type { ConstraintEngine, ConstraintMatcher, Grammar } from '../constraint.ts';
import { MatcherFailed } from '../constraint.ts';
import { JsonFormMatcher } from '../json-form/json-form-matcher.ts';
import { JsonTokens } from '../json-form/json-tokens.ts';
import type { TokenVocabulary } from '../token-vocabulary.ts';
import {
  DEFAULT_LLGUIDANCE_LIMITS,
  LlguidanceInstance,
  type LlguidanceLimits,
} from './llguidance-instance.ts';
import { LlguidanceMatcher, type MatcherHost } from './llguidance-matcher.ts';
import { MatcherCache } from './matcher-cache.ts';
import { isInstanceDeath } from './web-assembly.ts';

export interface LlguidanceEngineOptions {
  readonly limits?: LlguidanceLimits;
  /** Estimated size of the compiled grammars that are kept for later requests. Default: 32 MB. */
  readonly cacheBytes?: number;
  /** Memory of the instance above which it is replaced, because WebAssembly memory never shrinks. Default: 1 GB. */
  readonly memoryBytes?: number;
}

const CACHE_BYTES = 32 * 2 ** 20;
const MEMORY_BYTES = 2 ** 30;

export class LlguidanceEngine implements ConstraintEngine, MatcherHost {
  readonly maskWordCount: number;
  readonly vocabulary: TokenVocabulary;
  readonly #limits: LlguidanceLimits;
  readonly #cacheBytes: number;
  readonly #memoryBytes: number;
  #instance: LlguidanceInstance;
  #cache: MatcherCache;
  #jsonTokens: JsonTokens | null = null;

  constructor(vocabulary: TokenVocabulary, options: LlguidanceEngineOptions = {}) {
    if (vocabulary.eosTokenIds.length === 0)
      throw new Error('Constraints need a model with an end-of-sequence token.');
    this.vocabulary = vocabulary;
    this.#limits = options.limits ?? DEFAULT_LLGUIDANCE_LIMITS;
    this.#cacheBytes = options.cacheBytes ?? CACHE_BYTES;
    this.#memoryBytes = options.memoryBytes ?? MEMORY_BYTES;
    this.#instance = new LlguidanceInstance(vocabulary, this.#limits);
    this.#cache = this.#createCache();
    this.maskWordCount = this.#instance.maskWordCount;
  }

  get instance(): LlguidanceInstance {
    return this.#instance;
  }

  compile(grammar: Grammar): ConstraintMatcher {
    if (this.#instance.memoryBytes > this.#memoryBytes) this.#rebuild();
    const matcher = new LlguidanceMatcher(this, grammar);
    matcher.checkSatisfiable();
    if (grammar.form === undefined) return matcher;
    this.#jsonTokens ??= new JsonTokens(this.vocabulary);
    return new JsonFormMatcher(matcher, this.#jsonTokens, grammar.form);
  }

  /**
   * A handle at the start of the grammar, in the instance that lives now.
   * Throws: `GrammarRefused`, and what kills the instance.
   */
  startMatcher(grammar: Grammar): number {
    const cached = this.#cache.get(grammar);
    if (cached !== undefined) return this.#instance.cloneMatcher(cached);
    const pristine = this.#instance.createMatcher(grammar);
    const matcher = this.#instance.cloneMatcher(pristine);
    this.#cache.add(grammar, pristine);
    return matcher;
  }

  /**
   * Runs calls of one matcher.
   * Throws: `MatcherFailed` when they kill the instance, which is then replaced; every other error as it is.
   */
  guard<Result>(calls: () => Result): Result {
    const instance = this.#instance;
    try {
      return calls();
    } catch (error) {
      if (!isInstanceDeath(error)) throw error;
      if (instance === this.#instance) this.#rebuild();
      throw new MatcherFailed('The constraint was too complex for the grammar engine.', { cause: error });
    }
  }

  #rebuild(): void {
    this.#instance = new LlguidanceInstance(this.vocabulary, this.#limits);
    this.#cache = this.#createCache();
  }

  #createCache(): MatcherCache {
    const instance = this.#instance;
    return new MatcherCache(this.#cacheBytes, matcher => instance.freeMatcher(matcher));
  }
}
