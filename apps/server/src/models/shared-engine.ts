// Reference-counted engine: one engine and the requests that share it, from loading until it is closed. Caller:
// `loaded-models.ts`.
//
//   loading -> ready -> closing -> ended
//         \-> ended, when loading failed or was stopped
//
// Every change of state happens between two awaits, so an engine is never closed while a request holds a lease.

import type { EngineLease } from '@ortler/api';
import type { Engine } from '@ortler/engine';
import { beforeAbort } from './before-abort.ts';

/** Why the engine ended. */
export type EngineEnd =
  | { readonly kind: 'closed' }
  | { readonly kind: 'load-failed'; readonly error: unknown }
  | { readonly kind: 'load-stopped' };

export interface SharedEngineOptions {
  /** `report` takes how far it is, for people. */
  readonly load: (signal: AbortSignal, report: (detail: string) => void) => Promise<Engine>;
  /** Idle time after which the engine is closed. */
  readonly idleMs: number;
  readonly onLoaded: () => void;
  /** The last lease was released, so the engine may be evicted. */
  readonly onUnused: () => void;
  /** Called once, after the engine has left memory. */
  readonly onEnd: (end: EngineEnd) => void;
}

type State =
  | { readonly kind: 'loading'; readonly loaded: Promise<Engine>; readonly stop: AbortController }
  | { readonly kind: 'ready'; readonly engine: Engine }
  | { readonly kind: 'closing'; readonly closed: Promise<void> };

export class SharedEngine {
  readonly #options: SharedEngineOptions;
  #state: State;
  /** Requests that wait for the engine or hold a lease. */
  #userCount = 0;
  /** Closes when the last lease is released. */
  #isRetired = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #loadDetail = 'waiting';

  /** Starts loading in a microtask, after the constructor has returned. */
  constructor(options: SharedEngineOptions) {
    this.#options = options;
    const stop = new AbortController();
    const loaded = Promise.resolve().then(() =>
      options.load(stop.signal, detail => {
        this.#loadDetail = detail;
      }),
    );
    this.#state = { kind: 'loading', loaded, stop };
    loaded.then(
      engine => {
        options.onLoaded();
        this.#state = { kind: 'ready', engine };
        if (this.#userCount === 0) this.#becomeIdle();
      },
      error => options.onEnd(stop.signal.aborted ? { kind: 'load-stopped' } : { kind: 'load-failed', error }),
    );
  }

  /** The engine while it is ready. */
  get engine(): Engine | undefined {
    return this.#state.kind === 'ready' ? this.#state.engine : undefined;
  }

  /** How far loading is; undefined once it has ended. */
  get loadDetail(): string | undefined {
    return this.#state.kind === 'loading' ? this.#loadDetail : undefined;
  }

  get isUnused(): boolean {
    return this.#state.kind === 'ready' && this.#userCount === 0;
  }

  get isClosing(): boolean {
    return this.#state.kind === 'closing';
  }

  /** Loading was stopped. */
  get isStopped(): boolean {
    return this.#state.kind === 'loading' && this.#state.stop.signal.aborted;
  }

  /** Leases the engine to one request, if it is ready. The lease is released by `signal` at the latest. */
  lease(signal: AbortSignal): EngineLease | undefined {
    if (this.#state.kind !== 'ready' || isGone(this.#state.engine)) return undefined;
    this.#join();
    return this.#toLease(this.#state.engine, signal);
  }

  /**
   * Like `lease`, after waiting for the engine to load. Undefined where the engine is closing or its process has ended, after
   * it is closed: requests that still hold a lease have failed already. Throws: why loading failed, or the reason of `limit`.
   */
  async leaseWhenReady(signal: AbortSignal, limit: AbortSignal): Promise<EngineLease | undefined> {
    if (this.#state.kind !== 'loading') {
      const lease = this.lease(signal);
      if (lease === undefined) await beforeAbort(this.close(), limit);
      return lease;
    }
    this.#join();
    try {
      return this.#toLease(await beforeAbort(this.#state.loaded, limit), signal);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Closes the engine after the requests that wait for it or hold a lease have ended; stops loading where there are none. */
  unload(): void {
    if (this.#userCount === 0) this.retire();
    else this.#isRetired = true;
  }

  /** Stops loading, or closes the engine after its last lease is released. */
  retire(): void {
    this.#isRetired = true;
    if (this.#state.kind === 'loading') this.#state.stop.abort();
    else if (this.#userCount === 0) void this.close();
  }

  /** Stops loading, or closes the engine regardless of leases. Resolves when it has ended. */
  close(): Promise<void> {
    const state = this.#state;
    if (state.kind === 'closing') return state.closed;
    if (state.kind === 'loading') {
      this.retire();
      return state.loaded.then(
        () => this.close(),
        () => undefined,
      );
    }
    clearTimeout(this.#idleTimer);
    const closed = state.engine
      .close()
      .catch(() => undefined)
      .then(() => this.#options.onEnd({ kind: 'closed' }));
    this.#state = { kind: 'closing', closed };
    return closed;
  }

  #join(): void {
    this.#userCount++;
    clearTimeout(this.#idleTimer);
  }

  #leave(): void {
    this.#userCount--;
    if (this.#userCount === 0) this.#becomeIdle();
  }

  #becomeIdle(): void {
    if (this.#state.kind !== 'ready') return;
    if (this.#isRetired) {
      void this.close();
      return;
    }
    this.#idleTimer = setTimeout(() => void this.close(), this.#options.idleMs);
    this.#idleTimer.unref();
    this.#options.onUnused();
  }

  /** Also releases the lease when `signal` fires, because an aborted caller may not call `release`. */
  #toLease(engine: Engine, signal: AbortSignal): EngineLease {
    let isOpen = true;
    const release = () => {
      signal.removeEventListener('abort', release);
      if (isOpen) this.#leave();
      isOpen = false;
    };
    signal.addEventListener('abort', release);
    return { engine, release };
  }
}

/** Whether the process of the model has ended for good. */
function isGone({ health }: Engine): boolean {
  return health.state === 'failed' || health.state === 'closed';
}
