// Exponential backoff for restarts of a crashed token side. The next one starts only after its predecessor has ended, because
// until then the predecessor holds the memory that the next one needs.

/** Delays of the backoff. Unit: milliseconds. */
export interface RestartPolicy {
  /** Wait after the first crash; it doubles with each crash that follows soon. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A token side that ran this long counts as healthy: the backoff starts over. */
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
  /** Resolves when the predecessor has ended. */
  #ending: Promise<void> | null = null;
  /** The delay has passed, but the predecessor has not ended yet. */
  #isDue = false;

  constructor(policy: RestartPolicy, start: () => void) {
    this.#policy = policy;
    this.#start = start;
  }

  /** Delay until a caller should try again. At least the first delay, because loading takes time. */
  get retryAfterMs(): number {
    const waitMs = this.#wait === null ? 0 : this.#wait.atMs - performance.now();
    return Math.max(this.#policy.firstDelayMs, Math.ceil(waitMs));
  }

  /** A token side is ready: it counts as healthy if it runs long enough from now on. */
  becomeReady(): void {
    this.#readyAtMs = performance.now();
  }

  /** Delays every start until `end` has resolved. */
  waitFor(end: Promise<void>): void {
    this.#ending = end.then(() => {
      this.#ending = null;
      if (this.#isDue) this.#start();
      this.#isDue = false;
    });
  }

  /** Starts a token side after the delay. `wasReady`: the crashed one had finished loading. */
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

  /** Cancels the restart. Resolves when the predecessor has ended. */
  async stop(): Promise<void> {
    if (this.#wait !== null) clearTimeout(this.#wait.timer);
    this.#isDue = false;
    await this.#ending;
  }
}
