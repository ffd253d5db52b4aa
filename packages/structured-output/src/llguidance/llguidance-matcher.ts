// One sequence's place in a grammar. It remembers its tokens, so it survives the end of the instance it lives in.

import { type ConstraintMatcher, type Grammar, GrammarRefused, MatcherFailed } from '../constraint.ts';
import { assertInvariant } from '../errors.ts';
import type { TokenVocabulary } from '../token-vocabulary.ts';
import type { LlguidanceInstance } from './llguidance-instance.ts';

/** The engine, as far as its matchers need it. */
export interface MatcherHost {
  readonly maskWordCount: number;
  readonly vocabulary: Pick<TokenVocabulary, 'eosTokenIds'>;
  /** The instance that lives now. A matcher that knows another one is stale and must replay. */
  readonly instance: LlguidanceInstance;
  /** A handle at the start of the grammar, in that instance. Throws: `GrammarRefused`, and what kills the instance. */
  startMatcher(grammar: Grammar): number;
  /** Runs calls of one matcher. Throws: `MatcherFailed` when they kill the instance, which is then replaced. */
  guard<Result>(calls: () => Result): Result;
}

export class LlguidanceMatcher implements ConstraintMatcher {
  readonly #engine: MatcherHost;
  readonly #grammar: Grammar;
  /** Accepted tokens of the text; an end token is not one of them. */
  readonly #tokenIds: number[];
  /** The end token that was accepted. llguidance never sees it: fed to a matcher that is full, it breaks it. */
  #hasEnded: boolean;
  #instance: LlguidanceInstance;
  #handle: number;
  #isDisposed = false;

  constructor(engine: MatcherHost, grammar: Grammar, source?: LlguidanceMatcher) {
    this.#engine = engine;
    this.#grammar = grammar;
    this.#tokenIds = source === undefined ? [] : [...source.#tokenIds];
    this.#hasEnded = source === undefined ? false : source.#hasEnded;
    this.#handle = engine.guard(() =>
      source === undefined
        ? engine.startMatcher(grammar)
        : engine.instance.cloneMatcher(source.#currentHandle()),
    );
    this.#instance = engine.instance;
  }

  /** Some grammars that nothing satisfies are found only by the first mask. Throws: `GrammarRefused`. */
  checkSatisfiable(): void {
    try {
      const mask = new Uint32Array(this.#engine.maskWordCount);
      this.fillMask(mask);
      if (mask.some(word => word !== 0)) return;
    } catch (error) {
      this.dispose();
      throw error instanceof MatcherFailed ? toRefusal(error) : error;
    }
    this.dispose();
    throw new GrammarRefused(NOTHING_FITS);
  }

  fillMask(mask: Uint32Array): void {
    const { eosTokenIds } = this.#engine.vocabulary;
    if (this.mustStop()) {
      mask.fill(0);
      for (const id of eosTokenIds) setBit(mask, id);
      return;
    }
    this.#run((instance, handle) => instance.fillMask(handle, mask));
    if (hasBit(mask, eosTokenIds[0]!)) for (const id of eosTokenIds) setBit(mask, id);
  }

  accept(tokenId: number): boolean {
    if (this.#hasEnded) return false;
    if (this.#isEnd(tokenId)) {
      this.#hasEnded = this.canStop();
      return this.#hasEnded;
    }
    return this.#run((instance, handle) => {
      if (instance.isStopped(handle) || instance.countFitting(handle, [tokenId]) !== 1) return false;
      instance.consume(handle, [tokenId]);
      this.#tokenIds.push(tokenId);
      return true;
    });
  }

  countFitting(tokenIds: readonly number[]): number {
    if (this.mustStop()) return !this.#hasEnded && this.#isEnd(tokenIds[0]) ? 1 : 0;
    const end = tokenIds.findIndex(id => this.#isEnd(id));
    const text = end === -1 ? tokenIds : tokenIds.slice(0, end);
    const fitting = this.#run((instance, handle) => instance.countFitting(handle, text));
    if (end === -1 || fitting < end) return fitting;
    const ahead = this.fork();
    const isComplete = ahead.#acceptAll(text) && ahead.canStop();
    ahead.dispose();
    return isComplete ? fitting + 1 : fitting;
  }

  canStop(): boolean {
    return this.#hasEnded || this.#run((instance, handle) => instance.isAccepting(handle));
  }

  mustStop(): boolean {
    return this.#hasEnded || this.#run((instance, handle) => instance.isStopped(handle));
  }

  fork(): LlguidanceMatcher {
    return new LlguidanceMatcher(this.#engine, this.#grammar, this);
  }

  rollback(count: number): void {
    const ended = this.#hasEnded ? 1 : 0;
    const have = this.#tokenIds.length + ended;
    assertInvariant(count >= 0 && count <= have, `rollback of ${count} tokens; the matcher has ${have}`);
    if (count === 0) return;
    this.#hasEnded = false;
    const textCount = count - ended;
    if (textCount === 0) return;
    this.#run((instance, handle) => instance.rollback(handle, textCount));
    this.#tokenIds.length -= textCount;
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    if (this.#instance === this.#engine.instance) this.#instance.freeMatcher(this.#handle);
  }

  #acceptAll(tokenIds: readonly number[]): boolean {
    return tokenIds.every(id => this.accept(id));
  }

  #isEnd(tokenId: number | undefined): boolean {
    return tokenId !== undefined && this.#engine.vocabulary.eosTokenIds.includes(tokenId);
  }

  #run<Result>(call: (instance: LlguidanceInstance, handle: number) => Result): Result {
    return this.#engine.guard(() => {
      const handle = this.#currentHandle();
      return call(this.#instance, handle);
    });
  }

  /** The handle in the instance that lives now. Mutates: replays the tokens when that is a new one. */
  #currentHandle(): number {
    assertInvariant(!this.#isDisposed, 'a disposed matcher was used');
    const { instance } = this.#engine;
    if (this.#instance !== instance) {
      this.#handle = this.#engine.startMatcher(this.#grammar);
      this.#instance = instance;
      instance.consume(this.#handle, this.#tokenIds);
    }
    return this.#handle;
  }
}

const NOTHING_FITS = 'Nothing satisfies the constraint.';

/** llguidance calls a state without any continuation by the name of its own sampling setting. */
function toRefusal(error: MatcherFailed): GrammarRefused {
  const isDeadEnd = error.message.startsWith('NoExtensionBias');
  return new GrammarRefused(isDeadEnd ? NOTHING_FITS : error.message, { cause: error });
}

function hasBit(mask: Uint32Array, id: number): boolean {
  return ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
}

/** Mutates: `mask`. */
function setBit(mask: Uint32Array, id: number): void {
  mask[id >>> 5]! |= 1 << (id & 31);
}
