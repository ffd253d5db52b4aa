// Creates a server from its configuration, listens, and shuts down gracefully. Callers: the command line and tests.

import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, RateLimiter } from '@ortler/api';
import type { EngineInfo } from '@ortler/engine';
import type { DeviceChoice } from '@ortler/onnxruntime';
import { createJsonSchemaChecker } from '@ortler/structured-output';
import type { FastifyRequest } from 'fastify';
import { type Logger, pino } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config/config.ts';
import { toRateLimits } from './config/rate-limits.ts';
import { messageOf } from './db/database-errors.ts';
import { openDatabase } from './db/open-database.ts';
import { type KvEvents, startKvEvents } from './kv-events/kv-events.ts';
import { startHousekeeping } from './models/housekeeping.ts';
import { isOperatorError } from './models/is-operator-error.ts';
import { createDownloadLog } from './models/log-downloads.ts';
import type { CatalogEvent, ServerModelCatalog } from './models/model-catalog.ts';
import { createServerModels } from './models/server-models.ts';
import { trackIdleConnections } from './rest/idle-connections.ts';
import { createApiKeyStore } from './stores/api-keys.ts';
import { createAnnotationStores } from './stores/feedback/annotations.ts';
import { openFeedback } from './stores/feedback/open-feedback.ts';
import { type SharedLimits, shareLimits } from './stores/limits/shared-limits.ts';
import { createResponseStore } from './stores/responses.ts';
import { createTrainingServices } from './stores/training/training-services.ts';
import { openUsageStore } from './stores/usage/usage-store.ts';
import { checkDisk } from './system/check-disk.ts';
import { createMetrics } from './system/metrics.ts';
import { type MetricsServer, startMetricsServer } from './system/metrics-server.ts';
import { createServerStatistics } from './system/server-statistics.ts';
import type { MetricsAccess } from './system/system-routes.ts';
import { VERSION } from './system/version.ts';
import { createOtlpExporter } from './tracing/otlp-exporter.ts';
import type { CollectorTls } from './tracing/post-spans.ts';
import { createTracing, type Tracing } from './tracing/tracing.ts';

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

/** Time between aborting open requests and closing the connections of clients that do not read. */
const CUT_CONNECTIONS_MS = 1_000;
const CLOSE_IDLE_INTERVAL_MS = 50;

/** `shown`: the failure was reported to a person, so the log leaves it out. */
export type CatalogListener = (event: CatalogEvent) => 'shown' | undefined;

/** Starts a server. It listens before its models are fetched, built and loaded. Throws: when it cannot listen. */
export async function startServer(
  config: Config,
  onCatalogEvent: CatalogListener = () => undefined,
  onDevice: (choice: DeviceChoice) => void = () => undefined,
): Promise<RunningServer> {
  const logger = createLogger(config.logLevel);
  const tracing = await startTracing(config, logger);
  const database = await openDatabase({ ...config, trace: tracing?.statement });
  const feedback = await openFeedback(database, config).catch(async error => {
    await database.close();
    throw error;
  });
  let kvEvents: KvEvents | undefined;
  let sharedLimits: SharedLimits | undefined;
  const closeDatabases = async () => {
    await kvEvents?.close();
    await sharedLimits?.close();
    keys.close();
    await usage.close();
    await feedback.close();
    await database.close();
  };
  const schemas = createJsonSchemaChecker();
  const usage = await openUsageStore(database, config.dataDir).catch(async error => {
    await feedback.close();
    await database.close();
    throw error;
  });
  const keys = await createApiKeyStore(database, { bootstrapKey: config.apiKey, now: Date.now });
  const training = createTrainingServices(database, { ...config, now: Date.now });
  const logDownload = createDownloadLog(logger);
  const limits = new RateLimiter({ ...toRateLimits(config), now: Date.now });
  try {
    kvEvents = await listenForRouters(config);
    if (database.kind === 'postgres')
      sharedLimits = await shareLimits(database, limits, {
        now: Date.now,
        onChange: failure =>
          failure === null
            ? logger.info('rate limits are shared with other servers again')
            : logger.warn(
                { reason: messageOf(failure) },
                'rate limits count per server: the database does not answer',
              ),
      });
  } catch (error) {
    await closeDatabases();
    throw error;
  }
  const models = await createServerModels({
    config,
    kvEvents,
    checkpoints: training.checkpoints,
    onEvent: event => {
      logDownload(event);
      if (event.kind === 'precision')
        logger.info({ model: event.modelId, ...event.choice }, 'precision chosen');
      if (event.kind === 'ready') logNotes(logger, event.modelId, event.engine.info);
      const isShown = onCatalogEvent(event) === 'shown';
      if (event.kind === 'failed' && !isShown) logFailedModel(logger, event);
    },
    onStopped: (modelId, { message, retryAfterMs }) =>
      logger.error({ model: modelId, reason: message, retryAfterMs }, 'model stopped'),
    onUpstreamFault: (model, server, reason) =>
      logger.warn({ model, server, reason }, 'a server of the model does not answer as it should'),
    onUnloaded: modelId => logger.info({ model: modelId }, 'checkpoint unloaded'),
    onDevice: choice => {
      // With device `auto`, a GPU that cannot be used is a warning.
      if (choice.isFallback) logger.warn(choice, 'GPU not usable, models run on the CPU');
      else logger.info(choice, 'device chosen');
      onDevice(choice);
    },
  });
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

  const idleConnections = trackIdleConnections(app.server);
  let stopped: Promise<void> | undefined;
  let metricsServer: MetricsServer | undefined;
  let endHousekeeping: () => void = () => undefined;
  const stop = async () => {
    isStopping = true;
    if (config.drainDelayMs > 0) await pause(config.drainDelayMs);
    endHousekeeping();
    await metricsServer?.close();
    const endAnswers = setTimeout(
      () => stopping.abort(new ApiError('model_unavailable', 'The server is stopping.')),
      config.drainMs,
    );
    const cut = setTimeout(() => app.server.closeAllConnections(), config.drainMs + CUT_CONNECTIONS_MS);
    // Idle keep-alive connections would delay the close until their clients disconnect.
    closing.abort();
    idleConnections.close();
    const closeIdle = setInterval(() => idleConnections.close(), CLOSE_IDLE_INTERVAL_MS);
    try {
      await app.close();
    } finally {
      clearTimeout(endAnswers);
      clearTimeout(cut);
      clearInterval(closeIdle);
      await models.close();
      await schemas.close();
      await closeDatabases();
      await tracing?.close();
    }
  };

  try {
    await app.listen({ host: config.host, port: config.port });
    if (metricsPort !== undefined)
      metricsServer = await startMetricsServer(metrics, {
        host: config.host,
        port: metricsPort,
        key: metricsKey,
      });
  } catch (error) {
    await app.close();
    await closeDatabases();
    throw error;
  }
  endHousekeeping = startHousekeeping({
    settings: config,
    inUse: models.loadedFolders,
    onRemoved: builds =>
      logger.info({ builds: builds.map(({ path, bytes }) => ({ path, bytes })) }, 'built models removed'),
    onFailed: error => logger.warn({ reason: messageOf(error) }, 'built models could not be pruned'),
  });
  // Created only after listening has succeeded, because the key is shown once.
  const firstKey = await keys.createFirstKey();
  return {
    url: addressOf(app.server.address() as AddressInfo),
    metricsUrl: metricsServer?.url,
    catalog,
    firstKey,
    loaded: catalog.loadAll(),
    stop: () => (stopped ??= stop()),
  };
}

// A mistake of the operator is logged without a stack, a bug with one.
function logFailedModel(
  logger: Logger,
  { modelId, error, retryAfterMs }: Extract<CatalogEvent, { kind: 'failed' }>,
): void {
  const fault = isOperatorError(error) ? { reason: error.message } : { err: error };
  logger.error({ model: modelId, ...fault, retryAfterMs }, 'model could not be loaded');
}

function logNotes(logger: Logger, model: string, { deviceNote, memoryNote, chatTemplate }: EngineInfo): void {
  for (const note of [deviceNote, memoryNote])
    if (note !== undefined) logger.warn({ model, note }, 'the model runs slower than it could');
  if (chatTemplate === null)
    logger.warn(
      { model },
      'the model has no chat template: chat requests need one of their own (chat_template); --chat-template FILE gives the model one',
    );
}

// The query is left out of the log, because it may hold personal data; with tRPC it holds the whole input.
function toLoggedRequest({ method, url, host, ip, socket }: FastifyRequest) {
  return {
    method,
    url: url.split('?', 1)[0],
    host,
    remoteAddress: ip,
    remotePort: socket.remotePort,
  };
}

function createLogger(level: Config['logLevel']): Logger {
  const redact = ['req.headers.authorization', 'headers.authorization'];
  return pino(
    { level, redact, serializers: { req: toLoggedRequest } },
    pino.destination({ fd: 2, sync: true }),
  );
}

async function startTracing(config: Config, logger: Logger): Promise<Tracing | undefined> {
  const { otlpTracesEndpoint: endpoint, otlpTracesShare: sampleShare, otlpHeaders: headers } = config;
  if (endpoint === undefined) return undefined;
  const onFailed = (reason: string) => logger.warn({ endpoint, reason }, 'traces could not be sent');
  const tls = await readCollectorTls(config);
  const exporter = createOtlpExporter({ endpoint, headers, tls, serviceVersion: VERSION, onFailed });
  return createTracing({ exporter, sampleShare });
}

/** Throws: where a file cannot be read. */
async function readCollectorTls(config: Config): Promise<CollectorTls> {
  const read = (file: string | undefined) => (file === undefined ? undefined : readFile(file, 'utf8'));
  const [ca, cert, key] = await Promise.all([
    read(config.otlpCertificate),
    read(config.otlpClientCertificate),
    read(config.otlpClientKey),
  ]);
  return { ca, cert, key };
}

function listenForRouters(config: Config): Promise<KvEvents> | undefined {
  const { kvEvents: endpoint, kvEventsReplay, kvEventsTopic: topic, kvEventsFormat: format } = config;
  if (endpoint === undefined) return undefined;
  const defaultModelId = config.models[0]!.id;
  return startKvEvents({
    endpoint,
    replayEndpoint: kvEventsReplay,
    topic,
    format,
    defaultModelId,
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
