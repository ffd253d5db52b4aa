// A matcher for JSON answers that bounds the white space between tokens of JSON. llguidance has no such bound, so its masks are
// narrowed here.

import type { ConstraintMatcher } from '../constraint.ts';
import { type GapState, OUTSIDE, TOO_WIDE } from './json-whitespace.ts';
import type { WhitespaceLimit } from './whitespace-limit.ts';

export class BoundedMatcher implements ConstraintMatcher {
  readonly #inner: ConstraintMatcher;
  readonly #limit: WhitespaceLimit;
  readonly #endTokenIds: readonly number[];
  /** After each accepted token, for rollback. */
  readonly #states: GapState[];

  /** Owns `inner`, which is at the start of an answer unless `states` says what it has accepted. */
  constructor(
    inner: ConstraintMatcher,
    limit: WhitespaceLimit,
    endTokenIds: readonly number[],
    states: readonly GapState[] = [],
  ) {
    this.#inner = inner;
    this.#limit = limit;
    this.#endTokenIds = endTokenIds;
    this.#states = [...states];
  }

  get #state(): GapState {
    return this.#states.at(-1) ?? OUTSIDE;
  }

  fillMask(mask: Uint32Array): void {
    this.#inner.fillMask(mask);
    this.#limit.narrow(mask, this.#state);
  }

  accept(tokenId: number): boolean {
    const next = this.#next(this.#state, tokenId);
    if (next === TOO_WIDE || !this.#inner.accept(tokenId)) return false;
    this.#states.push(next);
    return true;
  }

  countFitting(tokenIds: readonly number[]): number {
    let state = this.#state;
    let count = 0;
    for (; count < tokenIds.length; count++) {
      state = this.#next(state, tokenIds[count]!);
      if (state === TOO_WIDE) break;
    }
    return this.#inner.countFitting(count === tokenIds.length ? tokenIds : tokenIds.slice(0, count));
  }

  canStop(): boolean {
    return this.#inner.canStop();
  }

  mustStop(): boolean {
    return this.#inner.mustStop();
  }

  fork(): BoundedMatcher {
    return new BoundedMatcher(this.#inner.fork(), this.#limit, this.#endTokenIds, this.#states);
  }

  rollback(count: number): void {
    this.#inner.rollback(count);
    this.#states.length -= count;
  }

  dispose(): void {
    this.#inner.dispose();
  }

  #next(state: GapState, tokenId: number): GapState {
    return this.#endTokenIds.includes(tokenId) ? state : this.#limit.next(state, tokenId);
  }
}
