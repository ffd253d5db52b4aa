// Fair sharing of the engine between shares (teams, keys), by tokens. Each request gets a virtual start time when it arrives:
// its share's last request ends, in virtual time, before it starts. Requests are served by virtual start, so a share that
// sends a thousand requests delays another's first one by those already running only. With one share the order is that of
// arrival. When the engine is idle, all begin anew. Source: start-time fair queueing (Goyal, Vin and Cheng, 1996).

/** Output tokens that a request is charged at most: most ask for many more than they use. */
const CHARGED_OUTPUT_TOKENS = 512;

/** What a request asks of the engine. Unit: tokens. */
export interface ShareCost {
  readonly promptTokenCount: number;
  /** Maximum number of output tokens of all choices together. */
  readonly maxOutputTokenCount: number;
}

export class FairShare {
  /** Virtual end of the last request of each share that is ahead of the virtual time. Unit: tokens. */
  readonly #ends = new Map<string, number>();
  #virtualTime = 0;

  /** The virtual start of a request that arrives now. Mutates: the share is charged its tokens. */
  start(share: string, { promptTokenCount, maxOutputTokenCount }: ShareCost): number {
    const start = Math.max(this.#virtualTime, this.#ends.get(share) ?? 0);
    const cost = promptTokenCount + Math.min(maxOutputTokenCount, CHARGED_OUTPUT_TOKENS);
    this.#ends.set(share, start + cost);
    return start;
  }

  /** Moves the virtual time to an admitted request. A share that was idle meanwhile saves nothing up. */
  admit(virtualStart: number): void {
    if (virtualStart <= this.#virtualTime) return;
    this.#virtualTime = virtualStart;
    for (const [share, end] of this.#ends) if (end <= virtualStart) this.#ends.delete(share);
  }

  /** Nobody runs or waits: with the busy period ends what shares were charged in it. */
  becomeIdle(): void {
    this.#virtualTime = 0;
    this.#ends.clear();
  }

  /** The virtual start of the latest request that was admitted. */
  get virtualTime(): number {
    return this.#virtualTime;
  }

  /** Shares that are ahead of the virtual time. */
  get shareCount(): number {
    return this.#ends.size;
  }
}
