// The models of this server: each is built where needed and loaded, all at once, while the server already listens.
// A model that fails is reported and leaves the others alone.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogModel, ModelCatalog, ModelStatus, ReasoningParser } from '@ortler/api';
import type { Engine, WarmUpProgress } from '@ortler/engine';
import type { BuildProgress } from '@ortler/model-builder';
import type { ConfiguredModel } from '../config/setting-values.ts';

export interface ModelCatalogOptions {
  readonly models: readonly ConfiguredModel[];
  /** How the thinking of a model is recognised. Default: by its chat template. */
  readonly reasoningParserOf?: (modelId: string) => ReasoningParser;
  /** Gives the folder of the built model. */
  readonly prepare: (
    sourceDir: string,
    onProgress: (progress: BuildProgress) => void,
    signal: AbortSignal,
  ) => Promise<string>;
  readonly load: (modelDir: string, onWarmUp: (progress: WarmUpProgress) => void) => Promise<Engine>;
  readonly onEvent?: (event: CatalogEvent) => void;
}

export type CatalogEvent =
  | { readonly kind: 'building'; readonly modelId: string; readonly progress: BuildProgress }
  | { readonly kind: 'ready'; readonly modelId: string; readonly engine: Engine }
  | { readonly kind: 'failed'; readonly modelId: string; readonly error: unknown };

export interface ServerModelCatalog extends ModelCatalog {
  /** Starts to load every model. Resolves when each is ready or has failed; never rejects. */
  loadAll(): Promise<void>;
  /** Stops builds and engines. */
  close(): Promise<void>;
}

/** What the model list says of who runs a model. */
export const OWNER = 'ortler';

interface Entry {
  readonly path: string;
  readonly model: Omit<CatalogModel, 'status'> & { status: ModelStatus };
}

/** Makes the catalog; nothing is loaded yet. */
export async function createModelCatalog(options: ModelCatalogOptions): Promise<ServerModelCatalog> {
  const { models, prepare, load, onEvent } = options;
  const stopping = new AbortController();
  const entries = await Promise.all(
    models.map(async ({ id, path }): Promise<Entry> => {
      const status: ModelStatus = { kind: 'loading', detail: 'waiting to be loaded' };
      const createdAtSeconds = await readCreationTime(path);
      const reasoningParser = options.reasoningParserOf?.(id) ?? 'auto';
      return { path, model: { id, createdAtSeconds, ownedBy: OWNER, root: id, reasoningParser, status } };
    }),
  );
  const byId = new Map<string, CatalogModel>(entries.map(({ model }) => [model.id, model]));
  const engines: Engine[] = [];
  let loading: Promise<void> | undefined;

  async function loadModel({ path, model }: Entry): Promise<void> {
    const setStatus = (status: ModelStatus) => {
      model.status = status;
    };
    try {
      const onProgress = (progress: BuildProgress) => {
        setStatus({ kind: 'loading', detail: describeProgress(progress) });
        onEvent?.({ kind: 'building', modelId: model.id, progress });
      };
      const modelDir = await prepare(path, onProgress, stopping.signal);
      setStatus({ kind: 'loading', detail: 'starting the engine' });
      stopping.signal.throwIfAborted();
      const engine = await load(modelDir, ({ doneCount, totalCount }) => {
        // A restart warms up again, while the engine itself tells how it is.
        if (model.status.kind !== 'loading') return;
        setStatus({ kind: 'loading', detail: `compiling for the device: ${doneCount} of ${totalCount}` });
      });
      engines.push(engine);
      // The server may have been stopped while the engine loaded; close() waits for that and ends it.
      if (stopping.signal.aborted) return;
      setStatus({ kind: 'ready', engine });
      onEvent?.({ kind: 'ready', modelId: model.id, engine });
    } catch (error) {
      setStatus({ kind: 'failed', detail: error instanceof Error ? error.message : String(error) });
      if (!stopping.signal.aborted) onEvent?.({ kind: 'failed', modelId: model.id, error });
    }
  }

  return {
    defaultModelId: models[0]!.id,
    list: () => [...byId.values()],
    find: id => byId.get(id),
    async loadAll() {
      loading ??= Promise.all(entries.map(loadModel)).then(() => undefined);
      await loading;
    },
    async close() {
      stopping.abort();
      await loading;
      await Promise.all(engines.map(engine => engine.close()));
    },
  };
}

function describeProgress({ stage, doneBytes, totalBytes }: BuildProgress): string {
  const percent = totalBytes === 0 ? 0 : Math.floor((doneBytes / totalBytes) * 100);
  return stage === 'hash' ? `reading the checkpoint, ${percent}%` : `building, ${percent}%`;
}

// The time of the checkpoint's configuration stays the same from start to start. Unit: seconds since 1970.
async function readCreationTime(folder: string): Promise<number> {
  const stats = await stat(join(folder, 'config.json')).catch(() => undefined);
  return stats === undefined ? 0 : Math.floor(stats.mtimeMs / 1000);
}
