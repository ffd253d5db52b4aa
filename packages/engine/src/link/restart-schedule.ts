// When a token side that crashed is started again: after a wait that grows with each crash, and not before its predecessor has
// ended, since until then that one holds the memory that the next one needs.

/** When a crashed token side is started again. Unit: milliseconds. */
export interface RestartPolicy {
  /** Wait after the first crash; it doubles with each crash that follows soon. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A token side that lived this long counts as healthy: the wait starts over. */
  readonly healthyMs: number;
}

export const DEFAULT_RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 250,
  longestDelayMs: 30_000,
  healthyMs: 60_000,
};

export class RestartSchedule {
  readonly #policy: RestartPolicy;
  readonly #start: () => void;
  #crashCount = 0;
  #readyAtMs = 0;
  #wait: { readonly timer: NodeJS.Timeout; readonly atMs: number } | null = null;
  /** The end of the predecessor. */
  #ending: Promise<void> | null = null;
  /** The wait is over, and only that end is still waited for. */
  #isDue = false;

  constructor(policy: RestartPolicy, start: () => void) {
    this.#policy = policy;
    this.#start = start;
  }

  /** How long a caller should wait before the next try. At least the first delay: loading takes its time. */
  get retryAfterMs(): number {
    const waitMs = this.#wait === null ? 0 : this.#wait.atMs - performance.now();
    return Math.max(this.#policy.firstDelayMs, Math.ceil(waitMs));
  }

  /** A token side is ready: it counts as healthy if it lives long enough from now on. */
  becomeReady(): void {
    this.#readyAtMs = performance.now();
  }

  /** Nothing is started before this end has come. */
  waitFor(end: Promise<void>): void {
    this.#ending = end.then(() => {
      this.#ending = null;
      if (this.#isDue) this.#start();
      this.#isDue = false;
    });
  }

  /** Starts a token side when it is time to. `wasReady`: the one that crashed had been. */
  schedule({ wasReady }: { readonly wasReady: boolean }): void {
    const { firstDelayMs, longestDelayMs, healthyMs } = this.#policy;
    if (wasReady && performance.now() - this.#readyAtMs >= healthyMs) this.#crashCount = 0;
    const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#crashCount);
    this.#crashCount++;
    const timer = setTimeout(() => {
      this.#wait = null;
      if (this.#ending === null) this.#start();
      else this.#isDue = true;
    }, delayMs);
    this.#wait = { timer, atMs: performance.now() + delayMs };
  }

  /** Starts nothing any more. Resolves when the end that is waited for has come. */
  async stop(): Promise<void> {
    if (this.#wait !== null) clearTimeout(this.#wait.timer);
    this.#isDue = false;
    await this.#ending;
  }
}
