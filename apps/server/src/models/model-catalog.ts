// The configured models: all are fetched and built where needed and loaded concurrently, while the server already listens. A model
// that fails does not affect the others; a failure whose cause may go away is retried with a growing pause. Models of other servers
// stand among them, without an engine.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogModel, ModelCatalog, ModelStatus } from '@ortler/api';
import { type Engine, EngineError, type WarmUpProgress } from '@ortler/engine';
import { HubError, type HubErrorCode } from '@ortler/hub';
import { type AutoPrecision, ModelBuildError, type ModelBuildErrorCode } from '@ortler/model-builder';
import { OrtError } from '@ortler/onnxruntime';
import { type ConfiguredModel, isOwnModel, type UpstreamServers } from '../config/model-list.ts';
import { LoadFailures } from './load-failures.ts';
import { describeProgress, type PrepareEvents, type PrepareProgress } from './prepare-events.ts';
import type { RunningUpstreamModel } from './upstream-model.ts';

export interface ModelCatalogOptions {
  readonly models: readonly ConfiguredModel[];
  /** Fetches and builds the model where needed. Returns the folder of the built model. */
  readonly prepare: (
    source: string,
    events: PrepareEvents,
    signal: AbortSignal,
    modelId: string,
  ) => Promise<string>;
  readonly load: (
    modelDir: string,
    modelId: string,
    onWarmUp: (progress: WarmUpProgress) => void,
  ) => Promise<Engine>;
  /** The client of a model that other servers answer for. Needed where there are such models. */
  readonly connect?: (model: UpstreamServers) => RunningUpstreamModel;
  readonly onEvent?: (event: CatalogEvent) => void;
}

export type CatalogEvent =
  | { readonly kind: 'preparing'; readonly modelId: string; readonly progress: PrepareProgress }
  /** Something for people about a download. */
  | { readonly kind: 'notice'; readonly modelId: string; readonly message: string }
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

/** `owned_by` in the model list: of models of this server, and of those that other servers answer for. */
export const OWNER = 'ortler';
const UPSTREAM_OWNER = 'upstream';

interface Entry {
  readonly source: string;
  readonly model: Omit<CatalogModel, 'status' | 'createdAtSeconds'> & {
    status: ModelStatus;
    createdAtSeconds: number;
  };
}

/** Creates the catalog without loading anything. */
export async function createModelCatalog(options: ModelCatalogOptions): Promise<ServerModelCatalog> {
  const { models, prepare, load, connect, onEvent } = options;
  const stopping = new AbortController();
  const entries = await Promise.all(
    models.filter(isOwnModel).map(async ({ id, source }): Promise<Entry> => {
      const status: ModelStatus = { kind: 'loading', detail: 'waiting to be loaded' };
      const createdAtSeconds = await readCreationTime(source);
      return { source, model: { id, createdAtSeconds, ownedBy: OWNER, root: id, status } };
    }),
  );
  const upstreams = models.flatMap(model => (isOwnModel(model) ? [] : [toUpstreamEntry(model, connect!)]));
  const known = [...entries, ...upstreams].map(({ model }) => model);
  // In the order of the configuration.
  const byId = new Map<string, CatalogModel>(
    models.map(({ id }) => [id, known.find(model => model.id === id)!]),
  );
  const engines: Engine[] = [];
  const failures = new LoadFailures(() => performance.now());
  const loads: Promise<void>[] = [];
  let firstTries: Promise<void> | undefined;

  /** Resolves when the model is ready, has failed for good, or the catalog is closed. Never rejects. */
  async function loadModel({ source, model }: Entry, onTried: () => void): Promise<void> {
    const setStatus = (status: ModelStatus) => {
      model.status = status;
    };
    try {
      const events: PrepareEvents = {
        onProgress: progress => {
          setStatus({ kind: 'loading', detail: describeProgress(progress) });
          onEvent?.({ kind: 'preparing', modelId: model.id, progress });
        },
        onPrecision: choice => onEvent?.({ kind: 'precision', modelId: model.id, choice }),
        onNotice: message => onEvent?.({ kind: 'notice', modelId: model.id, message }),
      };
      const modelDir = await prepareWithRetries({ source, model }, events, { setStatus, onTried });
      for (;;) {
        const retryAfterMs = await tryToStart(modelDir, model.id, setStatus);
        if (retryAfterMs === undefined) break;
        onTried();
        await pause(retryAfterMs, stopping.signal);
      }
      // A name has no folder before it is fetched.
      if (model.createdAtSeconds === 0) model.createdAtSeconds = await readCreationTime(modelDir);
    } catch (error) {
      if (!stopping.signal.aborted) {
        setStatus({ kind: 'failed', detail: error instanceof Error ? error.message : String(error) });
        onEvent?.({ kind: 'failed', modelId: model.id, error });
      }
    }
    onTried();
  }

  /** A Hub that cannot be reached may be there later, and a full disk may get space. Throws: failures that a retry cannot fix. */
  async function prepareWithRetries(
    { source, model }: Entry,
    events: PrepareEvents,
    {
      setStatus,
      onTried,
    }: { readonly setStatus: (status: ModelStatus) => void; readonly onTried: () => void },
  ): Promise<string> {
    for (;;) {
      try {
        return await prepare(source, events, stopping.signal, model.id);
      } catch (error) {
        if (!mayGoAway(error) || stopping.signal.aborted) throw error;
        const retryAfterMs = failForNow(model.id, error, setStatus);
        onTried();
        await pause(retryAfterMs, stopping.signal);
        stopping.signal.throwIfAborted();
      }
    }
  }

  /** Returns the pause before the next attempt. */
  function failForNow(modelId: string, error: unknown, setStatus: (status: ModelStatus) => void): number {
    failures.add(modelId, modelId);
    const retryAfterMs = Math.max(1, failures.pauseMs(modelId) ?? 0);
    // The reason goes to the log only, because it may name files of the server.
    setStatus({ kind: 'restarting', detail: 'loading failed and is retried', retryAfterMs });
    onEvent?.({ kind: 'failed', modelId, error, retryAfterMs });
    return retryAfterMs;
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
      return failForNow(modelId, error, setStatus);
    } finally {
      isStarting = false;
    }
  }

  return {
    defaultModelId: models[0]!.id,
    list: () => [...byId.values()],
    find: id => byId.get(id),
    async loadAll() {
      firstTries ??= Promise.all([
        ...entries.map(entry => new Promise<void>(resolve => loads.push(loadModel(entry, resolve)))),
        ...upstreams.map(({ upstream }) => upstream.start()),
      ]).then(() => undefined);
      await firstTries;
    },
    async close() {
      stopping.abort();
      for (const { upstream } of upstreams) upstream.close();
      await Promise.all(loads);
      await Promise.all(engines.map(engine => engine.close()));
    },
  };
}

function toUpstreamEntry(servers: UpstreamServers, connect: NonNullable<ModelCatalogOptions['connect']>) {
  const { id } = servers;
  const upstream = connect(servers);
  // Nothing here dates from a time.
  const identity = { id, createdAtSeconds: 0, ownedBy: UPSTREAM_OWNER, root: id };
  const model: CatalogModel = { ...identity, status: { kind: 'upstream', upstream } };
  return { upstream, model };
}

/** A crash (out of memory, native fault) may not happen again; an invalid folder stays invalid. */
function isCrash(error: unknown): boolean {
  if (error instanceof OrtError) return error.code === 'runtime_failed';
  return error instanceof EngineError && error.code === 'engine_failed';
}

const PASSING_HUB_ERRORS: readonly HubErrorCode[] = [
  'unreachable',
  'rate_limited',
  'no_space',
  'write_failed',
];
/** A full disk, a permission; want of memory. */
const PASSING_BUILD_ERRORS: readonly ModelBuildErrorCode[] = [
  'source_unreadable',
  'write_failed',
  'build_failed',
];

/** Whether fetching or building may succeed later without a change of the configuration. */
function mayGoAway(error: unknown): boolean {
  if (error instanceof HubError) return PASSING_HUB_ERRORS.includes(error.code);
  if (error instanceof ModelBuildError) return PASSING_BUILD_ERRORS.includes(error.code);
  // Errors of the file system, and of a device that could not be probed.
  return (error as NodeJS.ErrnoException).syscall !== undefined || isCrash(error);
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

// The modification time of the settings file, or of the model's one file, which is the same at every start. Unit: seconds since 1970.
async function readCreationTime(path: string): Promise<number> {
  for (const file of [join(path, 'config.json'), join(path, 'genai_config.json'), path]) {
    const stats = await stat(file).catch(() => undefined);
    if (stats !== undefined) return Math.floor(stats.mtimeMs / 1000);
  }
  return 0;
}
