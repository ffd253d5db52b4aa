// Which engines are in memory: loaded when somebody asks, shared by all who ask meanwhile, closed when idle or when
// their place is needed. Knows keys and engines only; checkpoint-models.ts says what a key is and how it is loaded.
//
//   absent -> loading -> ready -> closing -> absent
//                 \-> absent, with a pause before the next try, when loading failed
//
// Every change of state happens between two awaits, so two requests can neither load one key twice nor close an
// engine under a third.

import { ApiError, type EngineLease } from '@ortler/api';
import type { Engine } from '@ortler/engine';
import { LoadFailures } from './load-failures.ts';

export interface LoadedModelsOptions {
  /** Most engines in memory, those that load or close included. */
  readonly capacity: number;
  /** An engine without requests for this long is closed. */
  readonly idleMs: number;
  /** How long a request waits for its engine before it is told to come back. */
  readonly waitMs: number;
  /** Unit: milliseconds. Only differences matter. */
  readonly now: () => number;
  readonly onFailed?: (name: string, error: unknown) => void;
  readonly onUnloaded?: (name: string) => void;
}

export interface ModelToLoad {
  /** Requests with the same key share an engine. */
  readonly key: string;
  /** For messages and metrics. */
  readonly name: string;
  load(signal: AbortSignal): Promise<Engine>;
}

export interface LoadedModels {
  /** The engine, loaded first if need be. Throws: `ApiError` `model_unavailable`, or `aborted` when `signal` fires. */
  open(model: ModelToLoad, signal: AbortSignal): Promise<EngineLease>;
  /** Engines that can answer now. */
  list(): readonly { readonly name: string; readonly engine: Engine }[];
  /** Everything that is remembered, with the pauses after failures. */
  listKeys(): readonly { readonly key: string; readonly name: string }[];
  /** Forgets these keys: open requests end as they would, then the engine is closed; loading stops. */
  drop(keys: readonly string[]): void;
  /** Stops loading, closes all engines. */
  close(): Promise<void>;
}

interface Entry {
  readonly key: string;
  readonly name: string;
  /** Requests that wait for the engine or use it. */
  userCount: number;
  /** Grows with every use over all entries. */
  lastUse: number;
  /** Closes as soon as nobody uses it. */
  isUnwanted: boolean;
  idleTimer: NodeJS.Timeout | undefined;
  state:
    | { readonly kind: 'loading'; readonly loaded: Promise<Engine>; readonly stop: AbortController }
    | { readonly kind: 'ready'; readonly engine: Engine }
    | { readonly kind: 'closing'; readonly closed: Promise<void> };
}

/** What a request that waited in vain is told to wait before it asks again. Unit: milliseconds. */
const RETRY_MS = 2_000;

/** Makes an empty collection. */
export function createLoadedModels(options: LoadedModelsOptions): LoadedModels {
  const { capacity, idleMs, waitMs, now, onFailed, onUnloaded } = options;
  const entries = new Map<string, Entry>();
  const failures = new LoadFailures(now);
  let useCount = 0;
  let waitingCount = 0;
  let isClosed = false;
  let change = Promise.withResolvers<void>();

  /** Wakes those who wait for a place. */
  function announceChange(): void {
    change.resolve();
    change = Promise.withResolvers();
  }

  function startLoading({ key, name, load }: ModelToLoad): void {
    const stop = new AbortController();
    // Later, so that the entry is in place before anything of the loading happens.
    const loaded = Promise.resolve().then(() => load(stop.signal));
    const entry: Entry = {
      key,
      name,
      userCount: 0,
      lastUse: ++useCount,
      isUnwanted: false,
      idleTimer: undefined,
      state: { kind: 'loading', loaded, stop },
    };
    entries.set(key, entry);
    loaded.then(
      engine => {
        failures.forget(key);
        entry.state = { kind: 'ready', engine };
        if (entry.userCount === 0) becomeIdle(entry);
      },
      error => {
        entries.delete(key);
        if (!stop.signal.aborted) {
          failures.add(key, name);
          onFailed?.(name, error);
        }
        announceChange();
      },
    );
  }

  function becomeIdle(entry: Entry): void {
    if (entry.state.kind !== 'ready') return;
    if (entry.isUnwanted || isClosed) {
      void startClosing(entry);
      return;
    }
    entry.idleTimer = setTimeout(() => void startClosing(entry), idleMs);
    entry.idleTimer.unref();
    announceChange();
  }

  /** Resolves when the engine is closed, whoever began with it. */
  function startClosing(entry: Entry): Promise<void> {
    if (entry.state.kind === 'closing') return entry.state.closed;
    if (entry.state.kind === 'loading') return Promise.resolve();
    clearTimeout(entry.idleTimer);
    const closed = entry.state.engine
      .close()
      .catch(() => undefined)
      .then(() => {
        entries.delete(entry.key);
        onUnloaded?.(entry.name);
        announceChange();
      });
    entry.state = { kind: 'closing', closed };
    return closed;
  }

  /** Closes one engine for each request that waits, as far as there are engines that nobody uses. */
  function makeRoom(): void {
    const all = [...entries.values()];
    const closingCount = all.filter(({ state }) => state.kind === 'closing').length;
    const unused = all
      .filter(({ state, userCount }) => state.kind === 'ready' && userCount === 0)
      .toSorted((a, b) => a.lastUse - b.lastUse);
    for (const entry of unused.slice(0, Math.max(0, waitingCount - closingCount))) void startClosing(entry);
  }

  /** Resolves when it is worth looking again: a place is free, or an engine is no longer used. */
  async function waitForRoom(limit: AbortSignal): Promise<void> {
    waitingCount++;
    makeRoom();
    try {
      await beforeAbort(change.promise, limit);
    } finally {
      waitingCount--;
    }
  }

  function use(entry: Entry): void {
    entry.userCount++;
    entry.lastUse = ++useCount;
    clearTimeout(entry.idleTimer);
  }

  function leave(entry: Entry): void {
    entry.userCount--;
    if (entry.userCount === 0) becomeIdle(entry);
  }

  /** A caller that is gone has given its engine back, whether it says so or not. */
  function toLease(entry: Entry, engine: Engine, signal: AbortSignal): EngineLease {
    let isOpen = true;
    const release = () => {
      signal.removeEventListener('abort', release);
      if (isOpen) leave(entry);
      isOpen = false;
    };
    signal.addEventListener('abort', release);
    return { engine, release };
  }

  /** Resolves with the engine of an entry, or with nothing when the caller must look again. */
  async function join(
    entry: Entry,
    signal: AbortSignal,
    limit: AbortSignal,
  ): Promise<EngineLease | undefined> {
    const { state } = entry;
    if (state.kind === 'closing') {
      await beforeAbort(state.closed, limit);
      return undefined;
    }
    if (state.kind === 'ready') {
      // The next round loads it anew. Requests that still hold the old one have failed with it.
      if (isGone(state.engine)) {
        void startClosing(entry);
        return undefined;
      }
      use(entry);
      return toLease(entry, state.engine, signal);
    }
    use(entry);
    try {
      return toLease(entry, await beforeAbort(state.loaded, limit), signal);
    } catch (error) {
      leave(entry);
      if (limit.aborted) throw error;
      throw unavailable(entry.name, 'could not be loaded', failures.pauseMs(entry.key));
    }
  }

  async function open(model: ModelToLoad, signal: AbortSignal): Promise<EngineLease> {
    const found = entries.get(model.key);
    // The usual case needs no timer.
    if (!signal.aborted && found?.state.kind === 'ready' && !isGone(found.state.engine)) {
      use(found);
      return toLease(found, found.state.engine, signal);
    }
    const patience = AbortSignal.timeout(waitMs);
    const limit = AbortSignal.any([signal, patience]);
    try {
      for (;;) {
        limit.throwIfAborted();
        if (isClosed) throw new ApiError('model_unavailable', 'The server is stopping.');
        const entry = entries.get(model.key);
        if (entry !== undefined) {
          const lease = await join(entry, signal, limit);
          if (lease !== undefined) return lease;
          continue;
        }
        const pauseMs = failures.pauseMs(model.key) ?? 0;
        if (pauseMs > 0) throw unavailable(model.name, 'could not be loaded', pauseMs);
        if (entries.size < capacity) startLoading(model);
        else await waitForRoom(limit);
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      const { reason } = signal;
      if (signal.aborted && reason instanceof ApiError) throw reason;
      if (signal.aborted) throw new ApiError('aborted', 'The caller left.', { cause: reason });
      if (!patience.aborted) throw error;
      throw unavailable(model.name, 'is still being loaded, or waits for a place in memory');
    }
  }

  return {
    open,
    list: () =>
      [...entries.values()].flatMap(({ name, state }) =>
        state.kind === 'ready' ? [{ name, engine: state.engine }] : [],
      ),
    listKeys: () => [...[...entries.values()].map(({ key, name }) => ({ key, name })), ...failures.list()],
    drop(keys) {
      for (const key of keys) {
        failures.forget(key);
        const entry = entries.get(key);
        if (entry === undefined) continue;
        entry.isUnwanted = true;
        if (entry.state.kind === 'loading') entry.state.stop.abort();
        else if (entry.userCount === 0) void startClosing(entry);
      }
    },
    async close() {
      isClosed = true;
      const ends = [...entries.values()].map(async entry => {
        if (entry.state.kind === 'loading') {
          entry.state.stop.abort();
          await entry.state.loaded.catch(() => undefined);
        }
        await startClosing(entry);
      });
      announceChange();
      await Promise.all(ends);
    },
  };
}

/** Whether the model's process ended for good. */
function isGone({ health }: Engine): boolean {
  return health.state === 'failed' || health.state === 'closed';
}

function unavailable(name: string, what: string, pauseMs: number = RETRY_MS): ApiError {
  const retryAfterMs = Math.max(1, pauseMs);
  return new ApiError('model_unavailable', `The model ${name} ${what}.`, { param: 'model', retryAfterMs });
}

/** The promise's outcome, or the reason of `signal` when that fires first. */
async function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
