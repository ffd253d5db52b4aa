// Builds the server from its configuration, listens, and stops it again. The command line and tests call it.

import type { AddressInfo } from 'node:net';
import { ApiError } from '@ortler/api';
import { EngineError } from '@ortler/engine';
import { type DeviceChoice, OrtError } from '@ortler/onnxruntime';
import { createJsonSchemaChecker } from '@ortler/structured-output';
import type { FastifyRequest } from 'fastify';
import { type Logger, pino } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config/config.ts';
import { openDatabase } from './db/open-database.ts';
import type { CatalogEvent, ServerModelCatalog } from './models/model-catalog.ts';
import { ModelPreparationError } from './models/prepare-model.ts';
import { createServerModels } from './models/server-models.ts';
import { trackIdleConnections } from './rest/idle-connections.ts';
import { createApiKeyStore } from './stores/api-keys.ts';
import { createAnnotationStores } from './stores/feedback/annotations.ts';
import { openFeedback } from './stores/feedback/open-feedback.ts';
import { createTrainingServices } from './stores/training/training-services.ts';
import { createMetrics } from './system/metrics.ts';

export interface RunningServer {
  /** Address that it answers on. */
  readonly url: string;
  readonly catalog: ServerModelCatalog;
  /** The key made at this start, or null when there was one already. It is shown to the operator once. */
  readonly firstKey: string | null;
  /** Resolves when every model is ready or has failed once. */
  readonly loaded: Promise<void>;
  /** Lets open answers end within the configured time, ends the rest, then frees everything. */
  stop(): Promise<void>;
}

/** After open answers were told to end, connections of readers that do not read are cut this much later. */
const CUT_CONNECTIONS_MS = 1_000;
const CLOSE_IDLE_INTERVAL_MS = 50;

/** Starts a server. It listens at once; models are built and loaded meanwhile. Throws: when it cannot listen. */
export async function startServer(
  config: Config,
  onCatalogEvent: (event: CatalogEvent) => void = () => undefined,
  onDevice: (choice: DeviceChoice) => void = () => undefined,
): Promise<RunningServer> {
  const logger = createLogger(config.logLevel);
  const database = await openDatabase(config);
  const feedback = await openFeedback(database, config).catch(async error => {
    await database.close();
    throw error;
  });
  const closeDatabases = async () => {
    await feedback.close();
    await database.close();
  };
  const schemas = createJsonSchemaChecker();
  const keys = await createApiKeyStore(database, { bootstrapKey: config.apiKey, now: Date.now });
  const training = createTrainingServices(database, { ...config, now: Date.now });
  const models = await createServerModels({
    config,
    checkpoints: training.checkpoints,
    onEvent: event => {
      if (event.kind === 'failed') logFailedModel(logger, event);
      if (event.kind === 'ready') logDeviceNote(logger, event.modelId, event.engine.info.deviceNote);
      onCatalogEvent(event);
    },
    onUnloaded: modelId => logger.info({ model: modelId }, 'checkpoint left memory'),
    onDevice: choice => {
      // A GPU that does not work is worth a line to those who did not ask for it by name.
      if (choice.isFallback) logger.warn(choice, 'models run on the processor');
      else logger.info(choice, 'device of the models');
      onDevice(choice);
    },
  });
  const { catalog, checkpointModels, loadedCheckpoints } = models;
  const metrics = createMetrics(catalog, loadedCheckpoints);
  const stopping = new AbortController();
  const app = await createApp({
    services: {
      models: catalog,
      checkpointModels,
      credentials: keys,
      generations: metrics,
      promptCacheScope: config.promptCacheScope,
      feedback: feedback.store,
      annotations: { ...createAnnotationStores(database, Date.now), schemas },
      training,
      now: Date.now,
    },
    metrics,
    databases: feedback.databases,
    device: () => models.device.chosen,
    bodyLimitBytes: config.bodyLimitBytes,
    streamedBodyLimitBytes: config.logBodyLimitBytes,
    stalledReaderMs: config.stalledReaderMs,
    corsOrigins: config.corsOrigins,
    stopping: stopping.signal,
    logger,
  });

  const idleConnections = trackIdleConnections(app.server);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    const endAnswers = setTimeout(
      () => stopping.abort(new ApiError('model_unavailable', 'The server is stopping.')),
      config.drainMs,
    );
    const cut = setTimeout(() => app.server.closeAllConnections(), config.drainMs + CUT_CONNECTIONS_MS);
    // A connection without an open request would hold the server open until its client lets go.
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
    }
  };

  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await closeDatabases();
    throw error;
  }
  // Only a server that can listen makes a key: the key is shown once, so nobody may miss it.
  const firstKey = await keys.createFirstKey();
  return {
    url: addressOf(app.server.address() as AddressInfo),
    catalog,
    firstKey,
    loaded: catalog.loadAll(),
    stop: () => (stopped ??= stop()),
  };
}

// What the operator got wrong needs no stack; a fault of ours does.
function logFailedModel(
  logger: Logger,
  { modelId, error, retryAfterMs }: Extract<CatalogEvent, { kind: 'failed' }>,
): void {
  const isMistake =
    error instanceof ModelPreparationError || error instanceof EngineError || error instanceof OrtError;
  logger.error(
    {
      model: modelId,
      ...(isMistake ? { reason: error.message } : { err: error }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    'model could not be loaded',
  );
}

function logDeviceNote(logger: Logger, modelId: string, note: string | undefined): void {
  if (note !== undefined) logger.warn({ model: modelId, note }, 'model leaves work on the processor');
}

// A query may hold what a caller asks for, in tRPC the whole input, so it stays out of the log.
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

function addressOf({ address, port, family }: AddressInfo): string {
  const host =
    address === '0.0.0.0' || address === '::' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
