// When the tokens of one request came and how many there were, over all its choices. Caller: `observe-generation.ts`.

/** New tokens of a choice, as events of the engine bring them. */
interface NewTokens {
  readonly choiceIndex: number;
  readonly tokenIds: readonly number[];
}

export class TokenTimes {
  readonly #choices = new Map<number, { count: number; lastAtMs: number }>();
  readonly #gapsMs: number[] = [];
  #firstAtMs: number | null = null;

  /** When the first event about a choice came; null before. */
  get firstAtMs(): number | null {
    return this.#firstAtMs;
  }

  /** From tokens of a choice to its next ones. Tokens that come together are one entry, as in vLLM. */
  get gapsMs(): readonly number[] {
    return this.#gapsMs;
  }

  /** Tokens of all choices. */
  get count(): number {
    return this.#counts().reduce((sum, count) => sum + count, 0);
  }

  get longestChoiceCount(): number {
    return Math.max(0, ...this.#counts());
  }

  /** Mutates: takes in tokens that came at `nowMs`; there may be none. */
  came({ choiceIndex, tokenIds }: NewTokens, nowMs: number): void {
    this.#firstAtMs ??= nowMs;
    if (tokenIds.length === 0) return;
    const choice = this.#choices.get(choiceIndex);
    if (choice !== undefined) this.#gapsMs.push(nowMs - choice.lastAtMs);
    this.#choices.set(choiceIndex, { count: (choice?.count ?? 0) + tokenIds.length, lastAtMs: nowMs });
  }

  #counts(): readonly number[] {
    return [...this.#choices.values()].map(({ count }) => count);
  }
}
