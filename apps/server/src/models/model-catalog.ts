// The configured models: all are built where needed and loaded concurrently, while the server already listens. A model
// that fails does not affect the others; one whose process crashed while loading is retried with a growing pause.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogModel, ModelCatalog, ModelStatus } from '@ortler/api';
import { type Engine, EngineError, type WarmUpProgress } from '@ortler/engine';
import type { AutoPrecision, BuildProgress } from '@ortler/model-builder';
import { OrtError } from '@ortler/onnxruntime';
import type { ConfiguredModel } from '../config/setting-values.ts';
import { LoadFailures } from './load-failures.ts';

export interface ModelCatalogOptions {
  readonly models: readonly ConfiguredModel[];
  /** Builds the model where needed. Returns the folder of the built model. */
  readonly prepare: (
    sourceDir: string,
    onProgress: (progress: BuildProgress) => void,
    signal: AbortSignal,
    onPrecision: (choice: AutoPrecision) => void,
  ) => Promise<string>;
  readonly load: (
    modelDir: string,
    modelId: string,
    onWarmUp: (progress: WarmUpProgress) => void,
  ) => Promise<Engine>;
  readonly onEvent?: (event: CatalogEvent) => void;
}

export type CatalogEvent =
  | { readonly kind: 'building'; readonly modelId: string; readonly progress: BuildProgress }
  /** A build begins whose precision `auto` chose. */
  | { readonly kind: 'precision'; readonly modelId: string; readonly choice: AutoPrecision }
  | { readonly kind: 'ready'; readonly modelId: string; readonly engine: Engine }
  | {
      readonly kind: 'failed';
      readonly modelId: string;
      readonly error: unknown;
      /** Pause before the next attempt. Absent: there is none. */
      readonly retryAfterMs?: number;
    };

export interface ServerModelCatalog extends ModelCatalog {
  /** Loads all models. Resolves when each is ready or has failed once; never rejects. */
  loadAll(): Promise<void>;
  /** Stops builds, retries and engines. */
  close(): Promise<void>;
}

/** `owned_by` in the model list. */
export const OWNER = 'ortler';

interface Entry {
  readonly path: string;
  readonly model: Omit<CatalogModel, 'status'> & { status: ModelStatus };
}

/** Creates the catalog without loading anything. */
export async function createModelCatalog(options: ModelCatalogOptions): Promise<ServerModelCatalog> {
  const { models, prepare, load, onEvent } = options;
  const stopping = new AbortController();
  const entries = await Promise.all(
    models.map(async ({ id, path }): Promise<Entry> => {
      const status: ModelStatus = { kind: 'loading', detail: 'waiting to be loaded' };
      const createdAtSeconds = await readCreationTime(path);
      return { path, model: { id, createdAtSeconds, ownedBy: OWNER, root: id, status } };
    }),
  );
  const byId = new Map<string, CatalogModel>(entries.map(({ model }) => [model.id, model]));
  const engines: Engine[] = [];
  const failures = new LoadFailures(Date.now);
  const loads: Promise<void>[] = [];
  let firstTries: Promise<void> | undefined;

  /** Resolves when the model is ready, has failed for good, or the catalog is closed. Never rejects. */
  async function loadModel({ path, model }: Entry, onTried: () => void): Promise<void> {
    const setStatus = (status: ModelStatus) => {
      model.status = status;
    };
    try {
      const onProgress = (progress: BuildProgress) => {
        setStatus({ kind: 'loading', detail: describeProgress(progress) });
        onEvent?.({ kind: 'building', modelId: model.id, progress });
      };
      const onPrecision = (choice: AutoPrecision) =>
        onEvent?.({ kind: 'precision', modelId: model.id, choice });
      const modelDir = await prepare(path, onProgress, stopping.signal, onPrecision);
      for (;;) {
        const retryAfterMs = await tryToStart(modelDir, model.id, setStatus);
        if (retryAfterMs === undefined) break;
        onTried();
        await pause(retryAfterMs, stopping.signal);
      }
    } catch (error) {
      if (!stopping.signal.aborted) {
        setStatus({ kind: 'failed', detail: error instanceof Error ? error.message : String(error) });
        onEvent?.({ kind: 'failed', modelId: model.id, error });
      }
    }
    onTried();
  }

  /** Returns the pause before the next attempt; undefined when the engine runs. Throws: failures that a retry cannot fix. */
  async function tryToStart(
    modelDir: string,
    modelId: string,
    setStatus: (status: ModelStatus) => void,
  ): Promise<number | undefined> {
    stopping.signal.throwIfAborted();
    let isStarting = true;
    setStatus({ kind: 'loading', detail: 'starting the engine' });
    try {
      const engine = await load(modelDir, modelId, ({ doneCount, totalCount }) => {
        // A restart warms up again; the health of the engine then reports its state.
        if (!isStarting) return;
        setStatus({ kind: 'loading', detail: `compiling for the device: ${doneCount} of ${totalCount}` });
      });
      engines.push(engine);
      // The server may have stopped while the engine loaded; close() waits for this load and closes the engine.
      if (stopping.signal.aborted) return undefined;
      failures.forget(modelId);
      setStatus({ kind: 'ready', engine });
      onEvent?.({ kind: 'ready', modelId, engine });
      return undefined;
    } catch (error) {
      if (!isCrash(error) || stopping.signal.aborted) throw error;
      failures.add(modelId, modelId);
      const retryAfterMs = Math.max(1, failures.pauseMs(modelId) ?? 0);
      // The reason goes to the log only, because it may name files of the server.
      setStatus({ kind: 'restarting', detail: 'loading failed and is retried', retryAfterMs });
      onEvent?.({ kind: 'failed', modelId, error, retryAfterMs });
      return retryAfterMs;
    } finally {
      isStarting = false;
    }
  }

  return {
    defaultModelId: models[0]!.id,
    list: () => [...byId.values()],
    find: id => byId.get(id),
    async loadAll() {
      firstTries ??= Promise.all(
        entries.map(entry => new Promise<void>(resolve => loads.push(loadModel(entry, resolve)))),
      ).then(() => undefined);
      await firstTries;
    },
    async close() {
      stopping.abort();
      await Promise.all(loads);
      await Promise.all(engines.map(engine => engine.close()));
    },
  };
}

/** A crash (out of memory, native fault) may not happen again; an invalid folder stays invalid. */
function isCrash(error: unknown): boolean {
  if (error instanceof OrtError) return error.code === 'runtime_failed';
  return error instanceof EngineError && error.code === 'engine_failed';
}

/** Ends early when `signal` fires. Never rejects. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

function describeProgress({ stage, doneBytes, totalBytes }: BuildProgress): string {
  const percent = totalBytes === 0 ? 0 : Math.floor((doneBytes / totalBytes) * 100);
  return stage === 'hash' ? `reading the checkpoint, ${percent}%` : `building, ${percent}%`;
}

// The modification time of config.json, which is the same at every start. Unit: seconds since 1970.
async function readCreationTime(folder: string): Promise<number> {
  const stats = await stat(join(folder, 'config.json')).catch(() => undefined);
  return stats === undefined ? 0 : Math.floor(stats.mtimeMs / 1000);
}
