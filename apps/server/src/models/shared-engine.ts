// One engine and the requests that share it, from the start of its loading until it is closed. Caller: `loaded-models.ts`.
//
//   loading -> ready -> closing -> ended
//         \-> ended, when loading failed or was stopped
//
// Every change of state happens between two awaits, so no engine is closed under a request that was given it.

import type { EngineLease } from '@ortler/api';
import type { Engine } from '@ortler/engine';
import { beforeAbort } from './before-abort.ts';

/** How it came that there is no engine any more. */
export type EngineEnd =
  | { readonly kind: 'closed' }
  | { readonly kind: 'load-failed'; readonly error: unknown }
  | { readonly kind: 'load-stopped' };

export interface SharedEngineOptions {
  readonly load: (signal: AbortSignal) => Promise<Engine>;
  /** Without requests for this long the engine is closed. */
  readonly idleMs: number;
  readonly onLoaded: () => void;
  /** No request uses the engine any more, so that it may be closed. */
  readonly onUnused: () => void;
  /** Called once. Nothing is in memory any more. */
  readonly onEnd: (end: EngineEnd) => void;
}

type State =
  | { readonly kind: 'loading'; readonly loaded: Promise<Engine>; readonly stop: AbortController }
  | { readonly kind: 'ready'; readonly engine: Engine }
  | { readonly kind: 'closing'; readonly closed: Promise<void> };

export class SharedEngine {
  readonly #options: SharedEngineOptions;
  #state: State;
  /** Requests that wait for the engine or use it. */
  #userCount = 0;
  /** It closes as soon as nobody uses it. */
  #isRetired = false;
  #idleTimer: NodeJS.Timeout | undefined;

  /** Loading starts at once, but nothing of it happens before the constructor's caller goes on. */
  constructor(options: SharedEngineOptions) {
    this.#options = options;
    const stop = new AbortController();
    const loaded = Promise.resolve().then(() => options.load(stop.signal));
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

  /** The engine, once it is loaded and until it closes. */
  get engine(): Engine | undefined {
    return this.#state.kind === 'ready' ? this.#state.engine : undefined;
  }

  get isUnused(): boolean {
    return this.#state.kind === 'ready' && this.#userCount === 0;
  }

  get isClosing(): boolean {
    return this.#state.kind === 'closing';
  }

  /** The engine for one request, if it can answer now. The lease ends with `signal` if it has not ended before. */
  lease(signal: AbortSignal): EngineLease | undefined {
    if (this.#state.kind !== 'ready' || isGone(this.#state.engine)) return undefined;
    this.#join();
    return this.#toLease(this.#state.engine, signal);
  }

  /**
   * The same after loading. Nothing, once the engine is closed, where it closes or its process is gone: the requests that
   * still hold such an engine have failed with it. Throws: why loading failed, or the reason of `limit`.
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

  /** Stops loading; an engine answers those who use it and is then closed. */
  retire(): void {
    this.#isRetired = true;
    if (this.#state.kind === 'loading') this.#state.stop.abort();
    else if (this.#userCount === 0) void this.close();
  }

  /** Stops loading; closes the engine, whoever uses it. Resolves when that has happened. */
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

  /** A caller that is gone has given its engine back, whether it says so or not. */
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

/** Whether the model's process ended for good. */
function isGone({ health }: Engine): boolean {
  return health.state === 'failed' || health.state === 'closed';
}
