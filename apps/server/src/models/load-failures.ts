// Exponential backoff of models that could not be loaded. Callers: `loaded-models.ts`, `model-catalog.ts`.

interface Failure {
  readonly name: string;
  readonly count: number;
  readonly retryAtMs: number;
}

/** Pause after the first failure; it doubles with each further one. Unit: milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export class LoadFailures {
  readonly #failures = new Map<string, Failure>();
  readonly #now: () => number;

  /** @param now A clock; only differences of its values matter. Unit: milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(key: string, name: string): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS);
    this.#failures.set(key, { name, count, retryAtMs: this.#now() + pauseMs });
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Rest of the pause, 0 or less when it is over; undefined when the last attempt succeeded. Unit: milliseconds. */
  pauseMs(key: string): number | undefined {
    const failure = this.#failures.get(key);
    return failure && failure.retryAtMs - this.#now();
  }

  list(): readonly { readonly key: string; readonly name: string }[] {
    return [...this.#failures].map(([key, { name }]) => ({ key, name }));
  }
}
