// Which engines are in memory: loaded when somebody asks, shared by all who ask meanwhile, closed when idle or when
// their place is needed. `shared-engine.ts` is one of them; `checkpoint-models.ts` says what a key is and how it is loaded.
// This file says which there are, who waits for a place, and what callers are told.
//
// Every change happens between two awaits, so two requests cannot load one key twice.

import { ApiError, type EngineLease } from '@ortler/api';
import type { Engine } from '@ortler/engine';
import { beforeAbort } from './before-abort.ts';
import { LoadFailures } from './load-failures.ts';
import { type EngineEnd, SharedEngine } from './shared-engine.ts';

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
  readonly shared: SharedEngine;
}

/** What a request that waited in vain is told to wait before it asks again. Unit: milliseconds. */
const RETRY_MS = 2_000;

/** Makes an empty collection. */
export function createLoadedModels(options: LoadedModelsOptions): LoadedModels {
  const { capacity, idleMs, waitMs, now, onFailed, onUnloaded } = options;
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  const failures = new LoadFailures(now);
  /** Requests that wait for a place. */
  let waitingCount = 0;
  let isClosed = false;
  /** Resolves when it is worth looking for a place again. */
  let change = Promise.withResolvers<void>();

  function announceChange(): void {
    change.resolve();
    change = Promise.withResolvers();
  }

  function startLoading({ key, name, load }: ModelToLoad): void {
    const shared = new SharedEngine({
      load,
      idleMs,
      onLoaded: () => failures.forget(key),
      onUnused: announceChange,
      onEnd: end => remove({ key, name }, end),
    });
    entries.set(key, { key, name, shared });
  }

  function remove({ key, name }: Pick<Entry, 'key' | 'name'>, end: EngineEnd): void {
    entries.delete(key);
    if (end.kind === 'closed') onUnloaded?.(name);
    if (end.kind === 'load-failed') {
      failures.add(key, name);
      onFailed?.(name, end.error);
    }
    announceChange();
  }

  /** The entry of a key, which is used now. */
  function use(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  }

  /** Closes one engine for each request that waits, as far as there are engines that nobody uses. */
  function makeRoom(): void {
    const all = [...entries.values()].map(({ shared }) => shared);
    const closingCount = all.filter(({ isClosing }) => isClosing).length;
    const unused = all.filter(({ isUnused }) => isUnused);
    for (const shared of unused.slice(0, Math.max(0, waitingCount - closingCount))) void shared.close();
  }

  async function waitForRoom(limit: AbortSignal): Promise<void> {
    waitingCount++;
    makeRoom();
    try {
      await beforeAbort(change.promise, limit);
    } finally {
      waitingCount--;
    }
  }

  /** Looks again after every wait, as others may have come first. Throws: the reason of `limit` too. */
  async function openWithin(
    limit: AbortSignal,
    model: ModelToLoad,
    signal: AbortSignal,
  ): Promise<EngineLease> {
    const { key, name } = model;
    for (;;) {
      limit.throwIfAborted();
      if (isClosed) throw new ApiError('model_unavailable', 'The server is stopping.');
      const entry = use(key);
      if (entry !== undefined) {
        const lease = await entry.shared.leaseWhenReady(signal, limit).catch(error => {
          if (limit.aborted) throw error;
          throw unavailable(name, 'could not be loaded', failures.pauseMs(key));
        });
        if (lease !== undefined) return lease;
        continue;
      }
      const pauseMs = failures.pauseMs(key) ?? 0;
      if (pauseMs > 0) throw unavailable(name, 'could not be loaded', pauseMs);
      if (entries.size < capacity) startLoading(model);
      else await waitForRoom(limit);
    }
  }

  return {
    async open(model, signal) {
      // The usual case needs no timer.
      const lease = signal.aborted ? undefined : use(model.key)?.shared.lease(signal);
      if (lease !== undefined) return lease;
      const patience = AbortSignal.timeout(waitMs);
      try {
        return await openWithin(AbortSignal.any([signal, patience]), model, signal);
      } catch (error) {
        if (error instanceof ApiError) throw error;
        if (signal.aborted) throw toApiError(signal.reason);
        if (!patience.aborted) throw error;
        throw unavailable(model.name, 'is still being loaded, or waits for a place in memory');
      }
    },
    list: () =>
      [...entries.values()].flatMap(({ name, shared: { engine } }) =>
        engine === undefined ? [] : [{ name, engine }],
      ),
    listKeys: () => [...[...entries.values()].map(({ key, name }) => ({ key, name })), ...failures.list()],
    drop(keys) {
      for (const key of keys) {
        failures.forget(key);
        entries.get(key)?.shared.retire();
      }
    },
    async close() {
      isClosed = true;
      const ends = [...entries.values()].map(({ shared }) => shared.close());
      announceChange();
      await Promise.all(ends);
    },
  };
}

function unavailable(name: string, what: string, pauseMs: number = RETRY_MS): ApiError {
  const retryAfterMs = Math.max(1, pauseMs);
  return new ApiError('model_unavailable', `The model ${name} ${what}.`, { param: 'model', retryAfterMs });
}

/** What a caller that is gone is told: why it went, where that is known. */
function toApiError(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('aborted', 'The caller left.', { cause: reason });
}
