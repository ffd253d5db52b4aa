// Registered checkpoints as models: `<model>:step<N>`, and `<model>` for the newest. The store lists them, loaded-models.ts
// keeps them in memory; this file builds and starts one.

import {
  type CheckpointModel,
  type CheckpointModels,
  type CheckpointStore,
  homeEntity,
  mayReach,
  parseCheckpointReference,
  parseModelReference,
  type ServableCheckpoint,
  toCheckpointReference,
  toModelReference,
} from '@ortler/api';
import type { Engine } from '@ortler/engine';
import { ModelBuildError } from '@ortler/model-builder';
import { isStorableText } from '@ortler/schemas';
import type { LoadedModels } from './loaded-models.ts';
import { OWNER } from './model-catalog.ts';

/** The folders that a checkpoint is built from. */
export interface CheckpointFolders {
  readonly sourceDir: string;
  readonly adapterDir?: string;
}

export interface CheckpointModelsOptions {
  readonly store: Pick<CheckpointStore, 'listServable' | 'findServable'>;
  readonly loaded: LoadedModels;
  /** Folder of a configured model, which adapters can be merged into. */
  readonly baseFolder: (
    modelId: string,
    signal: AbortSignal,
  ) => string | undefined | Promise<string | undefined>;
  /** Builds the model where needed. Returns the folder of the built model. */
  readonly prepare: (
    folders: CheckpointFolders,
    name: string,
    signal: AbortSignal,
    report: (detail: string) => void,
  ) => Promise<string>;
  /** The first file of a weights folder that is not of the checkpoint's team; undefined when all are. */
  readonly findForeignFile: (weightsPath: string, modelName: string) => Promise<string | undefined>;
  /** A checkpoint shares the settings of the model that it derives from. */
  readonly start: (modelDir: string, name: string, baseModelId: string) => Promise<Engine>;
}

/** Creates the models of a checkpoint store. */
export function createCheckpointModels(options: CheckpointModelsOptions): CheckpointModels {
  const { store, loaded, baseFolder, prepare, findForeignFile, start } = options;

  async function load(
    checkpoint: ServableCheckpoint,
    signal: AbortSignal,
    report: (detail: string) => void,
  ): Promise<Engine> {
    const name = nameOf(checkpoint);
    await refuseForeignFiles(checkpoint);
    const modelDir = await prepare(await foldersOf(checkpoint, signal), name, signal, report);
    signal.throwIfAborted();
    // Also afterwards: a link may have been put there while the files were read.
    await refuseForeignFiles(checkpoint);
    report('starting');
    const engine = await start(modelDir, name, checkpoint.baseModel);
    // The checkpoint was deleted meanwhile, or the server stops.
    if (signal.aborted) await engine.close();
    signal.throwIfAborted();
    return engine;
  }

  /** The folder was checked when it was registered, and may have been changed since. Throws: `ModelBuildError`. */
  async function refuseForeignFiles({ weights, modelName }: ServableCheckpoint): Promise<void> {
    const file = await findForeignFile(weights.path, modelName);
    if (file === undefined) return;
    const message = `${weights.path}: ${file} is a link out of the folder of its team, leads nowhere, or is no file`;
    throw new ModelBuildError('source_invalid', message, { file: weights.path });
  }

  async function foldersOf(
    { weights, baseModel }: ServableCheckpoint,
    signal: AbortSignal,
  ): Promise<CheckpointFolders> {
    if (weights.kind === 'full') return { sourceDir: weights.path };
    const sourceDir = await baseFolder(baseModel, signal);
    if (sourceDir !== undefined) return { sourceDir, adapterDir: weights.path };
    throw new ModelBuildError(
      'source_invalid',
      `Its adapter needs the base model ${baseModel}, which this server does not have.`,
    );
  }

  function toModel(checkpoint: ServableCheckpoint, id: string): CheckpointModel {
    const servedId = nameOf(checkpoint);
    return {
      id,
      servedId,
      createdAtSeconds: Math.floor(checkpoint.createdAtMs / 1000),
      ownedBy: OWNER,
      root: id === servedId ? checkpoint.baseModel : servedId,
      open: signal =>
        loaded.open(
          {
            key: keyOf(checkpoint),
            name: servedId,
            load: (stop, report) => load(checkpoint, stop, report),
          },
          signal,
        ),
      unload: () => loaded.unload(keyOf(checkpoint)),
    };
  }

  /** Unloads the engines of checkpoints that were deleted. */
  async function unloadDeleted(): Promise<void> {
    // Listed before the store is read, because a key opened meanwhile may be newer than the store's answer.
    const before = loaded.listKeys();
    if (before.length === 0) return;
    const present = new Set((await store.listServable(null)).map(keyOf));
    loaded.drop(before.map(({ key }) => key).filter(key => !present.has(key)));
  }

  return {
    async list({ team }) {
      await unloadDeleted();
      const models: CheckpointModel[] = [];
      let lastName: string | undefined;
      for (const checkpoint of await store.listServable(team ?? null)) {
        // The newest checkpoint of each model comes first.
        if (checkpoint.modelName !== lastName) models.push(toModel(checkpoint, checkpoint.modelName));
        lastName = checkpoint.modelName;
        models.push(toModel(checkpoint, nameOf(checkpoint)));
      }
      return models;
    },
    async find(id, caller) {
      // No checkpoint has such a name, and some databases refuse the query.
      if (!isStorableText(id)) return undefined;
      const { modelName, step } = parseCheckpointReference(id);
      const model = parseModelReference(modelName, homeEntity(caller));
      if (model === null || !mayReach(caller, model.entity)) return undefined;
      const checkpoint = await store.findServable(model, step);
      if (checkpoint !== null) return toModel(checkpoint, id);
      const prefix = `${toModelReference(model)}:`;
      if (loaded.listKeys().some(({ name }) => name.startsWith(prefix))) await unloadDeleted();
      return undefined;
    },
  };
}

function nameOf({ modelName, step }: ServableCheckpoint): string {
  return toCheckpointReference(modelName, step);
}

/** With the time of creation, because a deleted id may be registered again with other weights. */
function keyOf({ modelId, checkpointId, createdAtMs }: ServableCheckpoint): string {
  return `${modelId} ${checkpointId} ${createdAtMs}`;
}
