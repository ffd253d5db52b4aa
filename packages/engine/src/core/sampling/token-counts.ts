// How often each token was generated: the input of the penalties, kept up to date token by token so that no step goes through
// the whole output. One per sequence with penalties, changed by its `Sequence`, and one per tentative output of it.

import { assertInvariant } from '../../errors.ts';

export class TokenCounts {
  /** Generated tokens, each once, in the order of their first time. */
  readonly tokenIds: number[] = [];
  /** Times each of `tokenIds` was generated, at the same index. */
  readonly counts: number[] = [];
  readonly #indexOf = new Map<number, number>();

  /** A copy of the counts that can be changed independently. */
  copy(): TokenCounts {
    const copy = new TokenCounts();
    copy.tokenIds.push(...this.tokenIds);
    copy.counts.push(...this.counts);
    for (const [tokenId, index] of this.#indexOf) copy.#indexOf.set(tokenId, index);
    return copy;
  }

  /** Mutates: counts one more `tokenId`. */
  add(tokenId: number): void {
    const index = this.#indexOf.get(tokenId);
    if (index !== undefined) {
      this.counts[index]!++;
      return;
    }
    this.#indexOf.set(tokenId, this.tokenIds.length);
    this.tokenIds.push(tokenId);
    this.counts.push(1);
  }

  /** Mutates: takes back the last `add`, which was of this token. */
  remove(tokenId: number): void {
    const index = this.#indexOf.get(tokenId);
    assertInvariant(index !== undefined, 'a token that is taken back was counted');
    this.counts[index]!--;
    if (this.counts[index]! > 0) return;
    // Its first time was the newest of all, so it is the last of the list.
    this.#indexOf.delete(tokenId);
    this.tokenIds.pop();
    this.counts.pop();
  }
}
