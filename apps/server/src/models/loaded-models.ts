// An LRU pool of engines: loaded on demand, shared by concurrent requests, closed when idle or evicted when another one
// needs their place. `shared-engine.ts` is one engine of the pool; `checkpoint-models.ts` defines keys and loading.
//
// Every change of state happens between two awaits, so two requests cannot load one key twice.

import { ApiError, type EngineLease } from '@ortler/api';
import type { Engine } from '@ortler/engine';
import { beforeAbort } from './before-abort.ts';
import { LoadFailures } from './load-failures.ts';
import { type EngineEnd, SharedEngine } from './shared-engine.ts';

export interface LoadedModelsOptions {
  /** Maximum number of engines in memory, including those that are loading or closing. */
  readonly capacity: number;
  /** Idle time after which an engine is closed. */
  readonly idleMs: number;
  /** How long a request waits for its engine before it fails with a Retry-After. */
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
  /** `report` takes how far it is, for people. */
  load(signal: AbortSignal, report: (detail: string) => void): Promise<Engine>;
}

export interface LoadedModels {
  /** Leases the engine, after loading it if needed. Throws: `ApiError` `model_unavailable`, or `aborted` when `signal` fires. */
  open(model: ModelToLoad, signal: AbortSignal): Promise<EngineLease>;
  /** Engines that are ready. */
  list(): readonly { readonly name: string; readonly engine: Engine }[];
  /** Engines that are being loaded, and how far each is. */
  listLoading(): readonly { readonly name: string; readonly detail: string }[];
  /** All keys of the pool, including those that wait after a failure. */
  listKeys(): readonly { readonly key: string; readonly name: string }[];
  /** Frees the memory of a key after its open requests have ended, also those that wait for it. A later request loads it again. */
  unload(key: string): void;
  /** Removes keys of deleted models: an engine is closed after its open requests have ended, loading stops. */
  drop(keys: readonly string[]): void;
  /** Stops loading, closes all engines. */
  close(): Promise<void>;
}

interface Entry {
  readonly key: string;
  readonly name: string;
  readonly shared: SharedEngine;
}

/** Retry-After of a request that waited in vain. Unit: milliseconds. */
const RETRY_MS = 2_000;

/** Creates an empty pool. */
export function createLoadedModels(options: LoadedModelsOptions): LoadedModels {
  const { capacity, idleMs, waitMs, now, onFailed, onUnloaded } = options;
  /** In order of use, the least recently used first. */
  const entries = new Map<string, Entry>();
  const failures = new LoadFailures(now);
  /** Requests that wait for a place in the pool. */
  let waitingCount = 0;
  let isClosed = false;
  /** Resolves when a place may have become free. */
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

  /** The entry of a key, which becomes the most recently used one. */
  function use(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  }

  /** Evicts one unused engine for each waiting request, as far as there are any. */
  function evictUnused(): void {
    const all = [...entries.values()].map(({ shared }) => shared);
    const closingCount = all.filter(({ isClosing }) => isClosing).length;
    const unused = all.filter(({ isUnused }) => isUnused);
    for (const shared of unused.slice(0, Math.max(0, waitingCount - closingCount))) void shared.close();
  }

  async function waitForPlace(limit: AbortSignal): Promise<void> {
    waitingCount++;
    evictUnused();
    try {
      await beforeAbort(change.promise, limit);
    } finally {
      waitingCount--;
    }
  }

  /** Checks again after each wait, because another request may have taken the place. Throws: the reason of `limit` too. */
  async function openWithin(
    limit: AbortSignal,
    model: ModelToLoad,
    signal: AbortSignal,
  ): Promise<EngineLease> {
    const { key, name } = model;
    for (;;) {
      limit.throwIfAborted();
      if (isClosed) throw stopping();
      const entry = use(key);
      if (entry !== undefined) {
        const lease = await entry.shared.leaseWhenReady(signal, limit).catch(error => {
          if (limit.aborted) throw error;
          if (entry.shared.isStopped) throw isClosed ? stopping() : deleted(name);
          throw unavailable(name, 'could not be loaded', failures.pauseMs(key));
        });
        if (lease !== undefined) return lease;
        continue;
      }
      const pauseMs = failures.pauseMs(key) ?? 0;
      if (pauseMs > 0) throw unavailable(name, 'could not be loaded', pauseMs);
      if (entries.size < capacity) startLoading(model);
      else await waitForPlace(limit);
    }
  }

  return {
    async open(model, signal) {
      // An engine that is ready needs no timer.
      const lease = signal.aborted ? undefined : use(model.key)?.shared.lease(signal);
      if (lease !== undefined) return lease;
      const timeout = AbortSignal.timeout(waitMs);
      try {
        return await openWithin(AbortSignal.any([signal, timeout]), model, signal);
      } catch (error) {
        if (error instanceof ApiError) throw error;
        if (signal.aborted) throw toApiError(signal.reason);
        if (!timeout.aborted) throw error;
        throw unavailable(model.name, 'is still being loaded, or waits for a place in memory');
      }
    },
    list: () =>
      [...entries.values()].flatMap(({ name, shared: { engine } }) =>
        engine === undefined ? [] : [{ name, engine }],
      ),
    listLoading: () =>
      [...entries.values()].flatMap(({ name, shared: { loadDetail } }) =>
        loadDetail === undefined ? [] : [{ name, detail: loadDetail }],
      ),
    listKeys: () => [...[...entries.values()].map(({ key, name }) => ({ key, name })), ...failures.list()],
    unload(key) {
      failures.forget(key);
      entries.get(key)?.shared.unload();
    },
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

function stopping(): ApiError {
  return new ApiError('model_unavailable', 'The server is stopping.');
}

function deleted(name: string): ApiError {
  const message = `The model ${name} was deleted while it was being loaded.`;
  return new ApiError('model_not_found', message, { param: 'model' });
}

/** The error of a request whose signal fired: the reason of the signal, if it is an `ApiError`. */
function toApiError(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('aborted', 'The caller left.', { cause: reason });
}
