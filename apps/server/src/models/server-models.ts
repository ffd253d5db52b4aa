// Wires all models of a server from its configuration: configured models, which stay loaded, registered checkpoints, which
// are loaded on demand, and models that other servers answer for. Each engine runs in its own process, so loading one does not affect the others.

import { join } from 'node:path';
import { type CheckpointModels, type CheckpointStore, parseModelReference } from '@ortler/api';
import { createEngine, type EngineError, type WarmUpProgress } from '@ortler/engine';
import { explainLongRope, explainLoss } from '@ortler/model-builder';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { Config } from '../config/config.ts';
import { isOwnModel } from '../config/model-list.ts';
import type { KvEvents } from '../kv-events/kv-events.ts';
import { toBuildOptions } from './build-options.ts';
import { createCheckpointModels } from './checkpoint-models.ts';
import { createGraphChoice } from './choose-graph.ts';
import { findOutside } from './confine-weights.ts';
import { toConstraintOptions } from './constraint-options.ts';
import { toHubOptions } from './hub-options.ts';
import { createLoadedModels, type LoadedModels } from './loaded-models.ts';
import { type CatalogEvent, createModelCatalog, type ServerModelCatalog } from './model-catalog.ts';
import { createModelSources } from './model-sources.ts';
import { describeProgress } from './prepare-events.ts';
import { prepareOnce } from './prepare-once.ts';
import { readChatTemplates } from './read-chat-template.ts';
import { createServerDevice, type ServerDevice } from './server-device.ts';
import { createUpstreamModel } from './upstream-model.ts';

/**
 * How long a request waits for its checkpoint to load: proxies commonly time out after 60 s without a byte. After that it
 * gets 503 with Retry-After, on which clients retry; loading continues meanwhile.
 */
const LOAD_WAIT_MS = 55_000;

export interface ServerModelsOptions {
  readonly config: Config;
  readonly checkpoints: Pick<CheckpointStore, 'listServable' | 'findServable'>;
  readonly onEvent: (event: CatalogEvent) => void;
  /** A model stopped while it was in use, and is started again. */
  readonly onStopped: (modelId: string, error: EngineError) => void;
  /** A server of a model of other servers does not answer, or not as it should. */
  readonly onUpstreamFault: (modelId: string, server: string, reason: string) => void;
  /** A checkpoint was unloaded. */
  readonly onUnloaded: (modelId: string) => void;
  /** Absent: cache events are not reported. */
  readonly kvEvents?: KvEvents | undefined;
  /** The device was chosen, before the first model is built. */
  readonly onDevice: (choice: DeviceChoice) => void;
}

export interface ServerModels {
  readonly device: ServerDevice;
  readonly catalog: ServerModelCatalog;
  readonly checkpointModels: CheckpointModels;
  /** Checkpoints in memory, for metrics and live views. */
  readonly loadedCheckpoints: Pick<LoadedModels, 'list' | 'listLoading'>;
  /** Folders of the models that are loaded or being loaded. */
  loadedFolders(): readonly string[];
  /** Stops downloads, builds and engines. */
  close(): Promise<void>;
}

/** Creates both kinds of models without loading anything. */
export async function createServerModels(options: ServerModelsOptions): Promise<ServerModels> {
  const { config, checkpoints, onEvent, onStopped, onUpstreamFault, onUnloaded, onDevice, kvEvents } =
    options;
  const device = createServerDevice(config.device, onDevice);
  const { reasoningParsers, toolDialects } = config;
  const chatTemplateOf = readChatTemplates(config);
  const checkpointDir = config.checkpointDir ?? join(config.dataDir, 'checkpoints');
  /** Folders of the models that are loaded, by their ids. */
  const modelDirs = new Map<string, string>();
  const sources = createModelSources(
    toHubOptions(config),
    createGraphChoice(config, () => device.choose()),
  );
  const load = async (
    modelDir: string,
    modelId: string,
    baseModelId: string,
    onWarmUp?: (progress: WarmUpProgress) => void,
  ) => {
    const { device: chosen } = await device.choose();
    modelDirs.set(modelId, modelDir);
    const cacheEvents = kvEvents?.ofModel(modelId);
    // A model of the same name, loaded before, has left memory.
    cacheEvents?.lost();
    const engine = await createEngine({
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
      chatTemplate: await chatTemplateOf(baseModelId),
      reasoningParser: reasoningParsers.ofModel.get(baseModelId) ?? reasoningParsers.ofOthers,
      toolDialect: toolDialects.ofModel.get(baseModelId) ?? toolDialects.ofOthers,
      tuning: {
        maxQueuedSequences: config.maxQueued,
        prefillChunkLength: config.prefillChunk,
        mixedChunkLength: config.mixedChunk,
        cacheSlots: config.prefixCache === 'on' ? config.cacheSlots : undefined,
        cacheBytes: chosen === 'cpu' ? undefined : config.cacheBytes,
        speculativeDecoding: config.speculation,
      },
      onWarmUp,
      cacheEvents: cacheEvents !== undefined,
      onCacheEvents: events => cacheEvents?.changed(events, engine.info.cacheBlockLength),
      onFailed: error => {
        cacheEvents?.lost();
        onStopped(modelId, error);
      },
    });
    return engine;
  };
  const catalog = await createModelCatalog({
    models: config.models,
    prepare: async (source, events, signal, modelId) => {
      // A fault of it shows before a download and a build.
      await chatTemplateOf(modelId);
      const { onProgress, onPrecision, onNotice } = events;
      const modelDir = await prepareOnce(
        {
          sourceDir: await sources.resolve(source, events, signal),
          ...(await toBuildOptions(config, (await device.choose()).device)),
          onPrecision,
          onProgress,
          signal,
        },
        () => onNotice('Another server is building this model; its build is used when it is done.'),
      );
      for (const explain of [explainLoss, explainLongRope]) {
        const notice = await explain(modelDir);
        if (notice !== undefined) onNotice(notice);
      }
      return modelDir;
    },
    load: (modelDir, modelId, onWarmUp) => load(modelDir, modelId, modelId, onWarmUp),
    connect: model =>
      createUpstreamModel({
        model,
        apiKey: config.upstreamKeys.get(model.id) ?? config.upstreamKey,
        timeouts: {
          connectMs: config.upstreamConnectMs,
          firstByteMs: config.upstreamFirstByteMs,
          silenceMs: config.upstreamSilenceMs,
        },
        onFault: (server, reason) => onUpstreamFault(model.id, server, reason),
      }),
    onEvent,
  });
  const loadedCheckpoints = createLoadedModels({
    capacity: config.maxLoadedCheckpoints,
    idleMs: config.checkpointIdleMs,
    waitMs: LOAD_WAIT_MS,
    now: () => performance.now(),
    onFailed: (modelId, error) => onEvent({ kind: 'failed', modelId, error }),
    onUnloaded: modelId => {
      modelDirs.delete(modelId);
      kvEvents?.ofModel(modelId).lost();
      onUnloaded(modelId);
    },
  });
  const checkpointModels = createCheckpointModels({
    store: checkpoints,
    loaded: loadedCheckpoints,
    async baseFolder(modelId, signal) {
      const model = config.models.filter(isOwnModel).find(({ id }) => id === modelId);
      if (model === undefined) return undefined;
      const events = { onProgress: () => undefined, onNotice: () => undefined };
      return sources.resolve(model.source, events, signal);
    },
    prepare: async (folders, modelId, signal, report) =>
      prepareOnce(
        {
          ...folders,
          ...(await toBuildOptions(config, (await device.choose()).device)),
          onPrecision: choice => onEvent({ kind: 'precision', modelId, choice }),
          onProgress: progress => {
            report(describeProgress(progress));
            onEvent({ kind: 'preparing', modelId, progress });
          },
          signal,
        },
        () => report('another server is building it'),
      ),
    async findForeignFile(weightsPath, modelName) {
      const { entity } = parseModelReference(modelName, '') ?? { entity: '' };
      // Keys without a team may name any folder of the checkpoint folder.
      return findOutside(weightsPath, [join(checkpointDir, entity), checkpointDir]);
    },
    async start(modelDir, modelId, baseModelId) {
      const engine = await load(modelDir, modelId, baseModelId);
      onEvent({ kind: 'ready', modelId, engine });
      return engine;
    },
  });
  return {
    device,
    catalog,
    checkpointModels,
    loadedCheckpoints,
    loadedFolders: () => [...modelDirs.values()],
    async close() {
      await Promise.all([catalog.close(), loadedCheckpoints.close()]);
    },
  };
}
