// A token bucket: a number of units per minute, which refill continuously. It may go into debt, because the
// tokens of an answer are known only when it ends.

const MINUTE_MS = 60_000;

export class TokenBucket {
  readonly #perMinute: number;
  #level: number;
  #atMs: number;

  /** @param perMinute Also the most units that are saved up. @param nowMs Unit: milliseconds since any fixed moment. */
  constructor(perMinute: number, nowMs: number) {
    this.#perMinute = perMinute;
    this.#level = perMinute;
    this.#atMs = nowMs;
  }

  /** Units that can be taken now; below zero: debt. */
  level(nowMs: number): number {
    // A clock that was set back adds nothing.
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    this.#level = Math.min(this.#perMinute, this.#level + (elapsedMs * this.#perMinute) / MINUTE_MS);
    this.#atMs = nowMs;
    return this.#level;
  }

  take(count: number, nowMs: number): void {
    this.#level = this.level(nowMs) - count;
  }

  /** Time until `count` units are there. Unit: milliseconds. */
  waitMs(count: number, nowMs: number): number {
    const missing = count - this.level(nowMs);
    return missing <= 0 ? 0 : (missing * MINUTE_MS) / this.#perMinute;
  }

  /** Whether nothing would be lost by making it anew. */
  isFull(nowMs: number): boolean {
    return this.level(nowMs) >= this.#perMinute;
  }
}
