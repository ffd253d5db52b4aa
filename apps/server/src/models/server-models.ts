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
  const load = async (modelDir: string, onWarmUp?: (progress: WarmUpProgress) => void) => {
    const { device: chosen } = await device.choose();
    return createEngine({
      modelDir,
      link: 'process',
      device: chosen,
      isDeviceOptional: config.device === 'auto',
      threadCount: config.threads,
      stepTimeoutMs: config.stepTimeoutMs,
      maxSequences: config.maxSequences,
      contextLength: config.contextLength,
      prefixCaching: config.prefixCache === 'on',
      schedulingPolicy: config.scheduling,
      modelDefaults: config.generationConfig === 'on',
      constraints: toConstraintOptions(config),
      tuning: {
        maxQueuedSequences: config.maxQueued,
        prefillChunkLength: config.prefillChunk,
        mixedChunkLength: config.mixedChunk,
        w8a8Prefill: config.wideGraphs === 'on',
        cacheSlots: config.prefixCache === 'on' ? config.cacheSlots : undefined,
        cacheBytes: chosen === 'cpu' ? undefined : config.cacheBytes,
        speculativeDecoding: config.speculation,
      },
      onWarmUp,
    });
  };
  const { reasoningParsers } = config;
  const reasoningParserOf = (id: string) => reasoningParsers.ofModel.get(id) ?? reasoningParsers.ofOthers;
  const catalog = await createModelCatalog({
    models: config.models,
    reasoningParserOf,
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
    reasoningParserOf,
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
    async start(modelDir, modelId) {
      const engine = await load(modelDir);
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
