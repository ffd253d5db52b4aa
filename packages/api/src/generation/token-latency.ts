// Time to first token and inter-token latency of one request, and how many tokens each choice has. Caller:
// `generation-observer.ts`, `../upstream/upstream-report.ts`.

export class TokenLatency {
  readonly #choices = new Map<number, { count: number; lastAtMs: number }>();
  readonly #interTokenMs: number[] = [];
  #firstAtMs: number | null = null;

  /** Time of the first delta; null before. */
  get firstAtMs(): number | null {
    return this.#firstAtMs;
  }

  /** From tokens of a choice to its next ones. Tokens of one delta are one entry, like in vLLM. */
  get interTokenMs(): readonly number[] {
    return this.#interTokenMs;
  }

  /** Tokens of all choices. */
  get count(): number {
    return this.#counts().reduce((sum, count) => sum + count, 0);
  }

  get longestChoiceCount(): number {
    return Math.max(0, ...this.#counts());
  }

  /** Records a delta that arrived at `nowMs`; it may have no tokens. */
  record(
    { choiceIndex, tokenCount }: { readonly choiceIndex: number; readonly tokenCount: number },
    nowMs: number,
  ): void {
    this.#firstAtMs ??= nowMs;
    if (tokenCount === 0) return;
    const choice = this.#choices.get(choiceIndex);
    if (choice !== undefined) this.#interTokenMs.push(nowMs - choice.lastAtMs);
    this.#choices.set(choiceIndex, { count: (choice?.count ?? 0) + tokenCount, lastAtMs: nowMs });
  }

  #counts(): readonly number[] {
    return [...this.#choices.values()].map(({ count }) => count);
  }
}
