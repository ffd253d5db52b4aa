// A least-recently-used cache of prepared calls of a graph. Callers: the runners and `../sampling/device/device-calls.ts`.

/** Calls are disposed when they are dropped. */
export class PreparedCalls<Call> {
  readonly #limit: number;
  readonly #dispose: (call: Call) => void;
  /** Least recently used first. */
  readonly #calls = new Map<string, Call>();
  /** The one that was taken last, which most steps take again. */
  #newest: { readonly key: string; readonly call: Call } | null = null;

  constructor(limit: number, dispose: (call: Call) => void) {
    this.#limit = limit;
    this.#dispose = dispose;
  }

  /** The call of that key, prepared now unless it is kept. Mutates: may dispose the one that was longest unused. */
  take(key: string, prepare: () => Call): Call {
    if (this.#newest?.key === key) return this.#newest.call;
    const call = this.#calls.get(key) ?? prepare();
    this.#newest = { key, call };
    this.#calls.delete(key);
    this.#calls.set(key, call);
    if (this.#calls.size > this.#limit) {
      const [oldestKey, oldest] = this.#calls.entries().next().value!;
      this.#dispose(oldest);
      this.#calls.delete(oldestKey);
    }
    return call;
  }

  dispose(): void {
    for (const call of this.#calls.values()) this.#dispose(call);
    this.#calls.clear();
    this.#newest = null;
  }
}
