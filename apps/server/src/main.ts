// Creates a server from its configuration, listens, and shuts down gracefully. Callers: the command line and tests.

import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@ortler/api';
import { createJsonSchemaChecker } from '@ortler/structured-output';
import { createApp } from './app.ts';
import type { Config } from './config/config.ts';
import { messageOf } from './db/database-errors.ts';
import { type KvEvents, startKvEvents } from './kv-events/kv-events.ts';
import { startHousekeeping } from './models/housekeeping.ts';
import { type CatalogListener, createModelLog, type DeviceListener } from './models/log-models.ts';
import type { ServerModelCatalog } from './models/model-catalog.ts';
import { createServerModels } from './models/server-models.ts';
import { drainConnections } from './rest/drain-connections.ts';
import { trackIdleConnections } from './rest/idle-connections.ts';
import { createAnnotationStores } from './stores/feedback/annotations.ts';
import { openStores } from './stores/open-stores.ts';
import { createResponseStore } from './stores/responses.ts';
import { checkDisk } from './system/check-disk.ts';
import { createLogger } from './system/logger.ts';
import { createMetrics } from './system/metrics.ts';
import { startMetricsServer } from './system/metrics-server.ts';
import { createServerStatistics } from './system/server-statistics.ts';
import type { MetricsAccess } from './system/system-routes.ts';
import { startTracing } from './tracing/start-tracing.ts';

export interface RunningServer {
  /** Address that the server listens on. */
  readonly url: string;
  /** Address of the metrics, where they have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly catalog: ServerModelCatalog;
  /** The API key created at this start, to be shown once; null when there was one already. */
  readonly firstKey: string | null;
  /** Resolves when each model is ready or has failed once. */
  readonly loaded: Promise<void>;
  /**
   * Graceful shutdown: health says so for `drainDelayMs`, then open requests may end within `drainMs`; aborts the rest and frees
   * everything.
   */
  stop(): Promise<void>;
}

/** Starts a server. It listens before its models are fetched, built and loaded. Throws: when it cannot listen. */
export async function startServer(
  config: Config,
  onCatalogEvent: CatalogListener = () => undefined,
  onDevice: DeviceListener = () => undefined,
): Promise<RunningServer> {
  // Closed in reverse order, here if a step fails, else by `stop`.
  await using owner = new AsyncDisposableStack();
  const logger = createLogger(config.logLevel);
  const tracing = await startTracing(config, logger);
  owner.defer(() => tracing?.close());
  const stores = await openStores(config, { logger, trace: tracing?.statement, owner });
  const { database, feedback, feedbackBodies, usage, keys, training, limits } = stores;
  const kvEvents = await publishKvEvents(config);
  owner.defer(() => kvEvents?.close());
  const schemas = owner.adopt(createJsonSchemaChecker(), checker => checker.close());

  const log = createModelLog(logger, onCatalogEvent, onDevice);
  const models = await createServerModels({
    config,
    kvEvents,
    checkpoints: training.checkpoints,
    ...log,
  });
  owner.defer(() => models.close());
  const { catalog, checkpointModels, loadedCheckpoints } = models;

  const { metricsKey, metricsPort } = config;
  const metrics = createMetrics(catalog, loadedCheckpoints, {
    namesCheckpoints: metricsKey !== undefined || metricsPort !== undefined,
    isPrefixCaching: config.prefixCache === 'on',
    maxCheckpoints: config.maxLoadedCheckpoints,
  });
  const stopping = new AbortController();
  /** Fires before open requests are waited for. */
  const closing = new AbortController();
  const statistics = createServerStatistics({
    config,
    catalog,
    checkpoints: loadedCheckpoints,
    metrics,
    now: Date.now,
    stopping: closing.signal,
  });
  let isStopping = false;
  const app = await createApp({
    services: {
      models: catalog,
      checkpointModels,
      credentials: keys,
      limits,
      usage,
      generations: {
        tokensGenerated: (modelId, count) => metrics.tokensGenerated(modelId, count),
        generationEnded(report) {
          metrics.generationEnded(report);
          tracing?.generationEnded(report);
        },
      },
      toolCalling: config.toolCalling === 'on',
      responses:
        config.responseRetentionDays === 0
          ? null
          : createResponseStore(database, { retentionDays: config.responseRetentionDays, now: Date.now }),
      promptCacheScope: config.promptCacheScope,
      feedback: feedback.store,
      feedbackBodies,
      annotations: { ...createAnnotationStores(database, Date.now), schemas },
      training,
      statistics,
      keys,
      now: Date.now,
    },
    metrics,
    storage: {
      databases: [
        { name: database.kind, isMain: true, condition: database.condition },
        ...feedback.databases,
        ...usage.databases,
      ],
      disk: () => checkDisk(config.dataDir, config.lowDiskBytes),
    },
    device: () => models.device.chosen,
    isStopping: () => isStopping,
    bodyLimitBytes: config.bodyLimitBytes,
    streamedBodyLimitBytes: config.logBodyLimitBytes,
    stalledReaderMs: config.stalledReaderMs,
    corsOrigins: config.corsOrigins,
    allowedHosts: config.allowedHosts ?? (isLoopback(config.host) ? [] : '*'),
    metricsAccess: toMetricsAccess(config),
    tracing,
    stopping: stopping.signal,
    logger,
  });
  // Closed after the app, so that what its last requests count can be scraped while they end.
  let metricsUrl: string | undefined;
  if (metricsPort !== undefined) {
    const options = { host: config.host, port: metricsPort, key: metricsKey };
    metricsUrl = owner.adopt(await startMetricsServer(metrics, options), server => server.close()).url;
  }
  owner.defer(() => app.close());

  const idleConnections = trackIdleConnections(app.server);
  await app.listen({ host: config.host, port: config.port });
  const endHousekeeping = startHousekeeping({
    settings: config,
    inUse: models.loadedFolders,
    onRemoved: builds =>
      logger.info({ builds: builds.map(({ path, bytes }) => ({ path, bytes })) }, 'built models removed'),
    onFailed: error => logger.warn({ reason: messageOf(error) }, 'built models could not be pruned'),
  });
  owner.defer(endHousekeeping);
  // Created only after listening has succeeded, because the key is shown once.
  const firstKey = await keys.createFirstKey();

  const running = owner.move();
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    isStopping = true;
    if (config.drainDelayMs > 0) await pause(config.drainDelayMs);
    closing.abort();
    using _draining = drainConnections(app.server, {
      idleConnections,
      drainMs: config.drainMs,
      abort: () => stopping.abort(new ApiError('model_unavailable', 'The server is stopping.')),
    });
    await running.disposeAsync();
  };
  return {
    url: addressOf(app.server.address() as AddressInfo),
    metricsUrl,
    catalog,
    firstKey,
    loaded: catalog.loadAll(),
    stop: () => (stopped ??= stop()),
  };
}

/** Undefined: nobody asked for the events. Throws: where an address cannot be listened on. */
async function publishKvEvents(config: Config): Promise<KvEvents | undefined> {
  const { kvEvents: endpoint, kvEventsReplay, kvEventsTopic: topic, kvEventsFormat: format } = config;
  if (endpoint === undefined) return undefined;
  return startKvEvents({
    endpoint,
    replayEndpoint: kvEventsReplay,
    topic,
    format,
    defaultModelId: config.models[0]!.id,
    now: Date.now,
  });
}

/** Only programs of this machine reach a loopback address, its browsers among them. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function toMetricsAccess({ metricsKey: key, metricsPort }: Config): MetricsAccess {
  if (metricsPort !== undefined) return { kind: 'elsewhere' };
  return key === undefined ? { kind: 'open' } : { kind: 'key', key };
}

function addressOf({ address, port, family }: AddressInfo): string {
  const host =
    address === '0.0.0.0' || address === '::' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
