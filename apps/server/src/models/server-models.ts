// All models of a server, wired from its configuration: those of the operator, always loaded, and registered checkpoints,
// loaded on demand. Each runs in a process of its own, so loading one leaves the others alone.

import type { CheckpointModels, CheckpointStore } from '@ortler/api';
import { createEngine, type WarmUpProgress } from '@ortler/engine';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { Config } from '../config/config.ts';
import { createCheckpointModels } from './checkpoint-models.ts';
import { toConstraintOptions } from './constraint-options.ts';
import { createLoadedModels, type LoadedModels } from './loaded-models.ts';
import { type CatalogEvent, createModelCatalog, type ServerModelCatalog } from './model-catalog.ts';
import { prepareModel } from './prepare-model.ts';
import { createServerDevice, type ServerDevice } from './server-device.ts';
import { toKvType } from './to-kv-type.ts';

/**
 * How long a request waits for its checkpoint to be loaded: proxies commonly give up on a silent answer after 60 s. The
 * answer is then 503 with Retry-After, on which clients try again by themselves; loading goes on meanwhile.
 */
const LOAD_WAIT_MS = 55_000;

export interface ServerModelsOptions {
  readonly config: Config;
  readonly checkpoints: Pick<CheckpointStore, 'listServable' | 'findServable'>;
  readonly onEvent: (event: CatalogEvent) => void;
  /** A checkpoint left memory. */
  readonly onUnloaded: (modelId: string) => void;
  /** Where models run is settled: before the first of them is built. */
  readonly onDevice: (choice: DeviceChoice) => void;
}

export interface ServerModels {
  readonly device: ServerDevice;
  readonly catalog: ServerModelCatalog;
  readonly checkpointModels: CheckpointModels;
  /** Engines of checkpoints, for metrics. */
  readonly loadedCheckpoints: Pick<LoadedModels, 'list'>;
  /** Stops builds and engines. */
  close(): Promise<void>;
}

/** Makes both kinds; nothing is loaded yet. */
export async function createServerModels(options: ServerModelsOptions): Promise<ServerModels> {
  const { config, checkpoints, onEvent, onUnloaded, onDevice } = options;
  const { dataDir, precision } = config;
  const kvType = toKvType(config.kvCache);
  const device = createServerDevice(config.device, onDevice);
  const { reasoningParsers } = config;
  const load = async (
    modelDir: string,
    baseModelId: string,
    onWarmUp?: (progress: WarmUpProgress) => void,
  ) => {
    const { device: chosen } = await device.choose();
    return createEngine({
      modelDir,
      link: 'process',
      device: chosen,
      isDeviceOptional: config.device === 'auto',
      ...(onWarmUp !== undefined && { onWarmUp }),
      threadCount: config.threads,
      stepTimeoutMs: config.stepTimeoutMs,
      maxSequences: config.maxSequences,
      maxQueuedSequences: config.maxQueued,
      schedulingPolicy: config.scheduling,
      prefixCaching: config.prefixCache === 'on',
      wideGraphs: config.wideGraphs === 'on',
      ...(config.prefixCache === 'on' && { cacheSlots: config.cacheSlots }),
      modelDefaults: config.generationConfig === 'on',
      speculation: config.speculation,
      prefillChunkLength: config.prefillChunk,
      ...(config.mixedChunk !== undefined && { mixedChunkLength: config.mixedChunk }),
      constraints: toConstraintOptions(config),
      reasoningParser: reasoningParsers.ofModel.get(baseModelId) ?? reasoningParsers.ofOthers,
      ...(config.contextLength !== undefined && { contextLength: config.contextLength }),
      ...(config.cacheBytes !== undefined && chosen !== 'cpu' && { cacheBytes: config.cacheBytes }),
    });
  };
  const catalog = await createModelCatalog({
    models: config.models,
    prepare: async (sourceDir, onProgress, signal) =>
      prepareModel({
        sourceDir,
        dataDir,
        precision,
        kvType,
        device: (await device.choose()).device,
        onProgress,
        signal,
      }),
    load,
    onEvent,
  });
  const loadedCheckpoints = createLoadedModels({
    capacity: config.maxLoadedCheckpoints,
    idleMs: config.checkpointIdleMs,
    waitMs: LOAD_WAIT_MS,
    now: Date.now,
    onFailed: (modelId, error) => onEvent({ kind: 'failed', modelId, error }),
    onUnloaded,
  });
  const checkpointModels = createCheckpointModels({
    store: checkpoints,
    loaded: loadedCheckpoints,
    baseFolder: id => config.models.find(model => model.id === id)?.path,
    prepare: async (folders, modelId, signal) =>
      prepareModel({
        ...folders,
        dataDir,
        precision,
        kvType,
        device: (await device.choose()).device,
        onProgress: progress => onEvent({ kind: 'building', modelId, progress }),
        signal,
      }),
    async start(modelDir, modelId, baseModelId) {
      const engine = await load(modelDir, baseModelId);
      onEvent({ kind: 'ready', modelId, engine });
      return engine;
    },
  });
  return {
    device,
    catalog,
    checkpointModels,
    loadedCheckpoints,
    async close() {
      await Promise.all([catalog.close(), loadedCheckpoints.close()]);
    },
  };
}
