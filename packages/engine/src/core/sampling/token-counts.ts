// How often each token was generated: what the penalties need of an output, kept up to date token by token so that
// no step goes through the whole output. One per sequence with penalties; changed by `Sequence.append` only.

export class TokenCounts {
  /** Generated tokens, each once, in the order of their first time. */
  readonly tokenIds: number[] = [];
  /** Times each of `tokenIds` was generated, at the same index. */
  readonly counts: number[] = [];
  readonly #indexOf = new Map<number, number>();

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
}
