// The HTTP application: REST and tRPC over the same procedures, and the system routes. It opens no port, so tests call
// `app.inject`.

import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import cors from '@fastify/cors';
import { createAppRouter, IGNORED_FIELDS_HEADER, type PublicError, type Services } from '@ortler/api';
import type { DeviceChoice } from '@ortler/onnxruntime';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { answerUnmetExpectation, createBrokenRequestHandler } from './rest/broken-request.ts';
import { type AllowedHosts, checkHeaders } from './rest/check-headers.ts';
import { COMPRESSED_FROM_BYTES, compressBody } from './rest/compress.ts';
import { createDispatcher } from './rest/dispatcher.ts';
import { toErrorBody, toErrorHeaders } from './rest/error-body.ts';
import { isMediaTypeFault, toFrameworkError } from './rest/framework-fault.ts';
import { setIdleWriteTimeout } from './rest/idle-write-timeout.ts';
import { onReplyEnd } from './rest/on-reply-end.ts';
import { SAFE_REPLY_HEADERS } from './rest/page-headers.ts';
import { chooseRequestId } from './rest/request-context.ts';
import { createRouteTable } from './rest/route-table.ts';
import { createWrongKeyDelay } from './rest/wrong-key-delay.ts';
import type { Metrics } from './system/metrics.ts';
import { createStorageChecks, type StorageChecksOptions } from './system/storage-checks.ts';
import { createStorageLog } from './system/storage-log.ts';
import { type MetricsAccess, registerSystemRoutes } from './system/system-routes.ts';
import { describeUpstreamFault } from './system/upstream-log.ts';
import { traceRequests } from './tracing/trace-requests.ts';
import type { Tracing } from './tracing/tracing.ts';
import { registerTrpc } from './trpc/register-trpc.ts';

export interface AppOptions {
  readonly services: Services;
  readonly metrics: Metrics;
  /** Disk and databases that `/health` reports. */
  readonly storage?: StorageChecksOptions;
  /** The device that models run on, once it is chosen. */
  readonly device?: () => DeviceChoice | undefined;
  /** Whether the server has received a stop signal, which health then reports. Default: never. */
  readonly isStopping?: () => boolean;
  readonly bodyLimitBytes: number;
  /** Limit of bodies that are streamed to the store: logged trajectories. */
  readonly streamedBodyLimitBytes: number;
  /** Idle write timeout: longest time a client may read nothing of a reply that is waiting for it. 0: no limit. */
  readonly stalledReaderMs: number;
  readonly corsOrigins: '*' | readonly string[];
  /** Host names that requests may have in their Host header. Default: all. */
  readonly allowedHosts?: AllowedHosts;
  /** How /metrics is served here: to everyone, with a key, or not at all. Default: to everyone. */
  readonly metricsAccess?: MetricsAccess;
  /** Absent: requests are not traced. */
  readonly tracing?: Pick<Tracing, 'startRequest'> | undefined;
  /** Ends every open request when it fires. */
  readonly stopping: AbortSignal;
  /** Absent: nothing is logged. */
  readonly logger?: FastifyBaseLogger;
}

/** Longest path segment; tRPC joins the procedure names of a batch into one. */
const MAX_PARAM_LENGTH = 5_000;
/**
 * Longest time a client may take to send its request. The thread that reads a log holds its client back, and where models keep all cores
 * busy the largest log takes minutes. Source: Node's default.
 */
const REQUEST_TIMEOUT_MS = 300_000;
/** Origin of a request line in absolute form, with the first slash of its path. */
const ORIGIN = /^https?:\/\/[^/?#]*\/?/i;
/** Label of requests whose path leads nowhere. Source: prometheus-fastapi-instrumentator, which vLLM uses. */
const NO_HANDLER = 'none';
const RATE_LIMIT_HEADERS = ['limit', 'remaining', 'reset'].flatMap(part =>
  ['requests', 'tokens'].map(kind => `x-ratelimit-${part}-${kind}`),
);
/** How long browsers may cache a preflight response. Unit: seconds. */
const CORS_MAX_AGE_S = 600;

/** Builds the application. */
export async function createApp({
  services,
  metrics,
  storage = {},
  device = () => undefined,
  isStopping = () => false,
  bodyLimitBytes,
  streamedBodyLimitBytes,
  stalledReaderMs,
  corsOrigins,
  allowedHosts = '*',
  metricsAccess = { kind: 'open' },
  tracing,
  stopping,
  logger,
}: AppOptions): Promise<FastifyInstance> {
  const router = createAppRouter(services);
  const table = createRouteTable(router);
  const app: FastifyInstance = fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    bodyLimit: bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // `checkHeaders` requires it, and answers in the usual error shape.
    http: { requireHostHeader: false },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    forceCloseConnections: 'idle',
    // What still comes over a connection that the client kept is answered like every open request, and ends the connection.
    return503OnClosing: false,
    genReqId: chooseRequestId,
    logController: new LogController({ requestIdLogLabel: 'requestId' }),
    // Proxies may send the absolute form of the request target. Source: RFC 9112, section 3.2.2.
    rewriteUrl: ({ url = '/' }) => url.replace(ORIGIN, '/'),
    clientErrorHandler: createBrokenRequestHandler(corsOrigins),
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const known = toFrameworkError(error, request.id);
      const style = table.errorsNear(request.url.split('?', 1)[0]!);
      reply
        .code(known.status)
        .headers({ 'x-request-id': request.id, ...SAFE_REPLY_HEADERS })
        .send(toErrorBody(known, style));
      // No hook sees these requests.
      metrics.requestAnswered({
        method: request.method,
        handler: NO_HANDLER,
        status: known.status,
        durationMs: 0,
      });
    },
  });
  const logStorageFault = createStorageLog(app.log, performance.now.bind(performance));
  const onError = (error: unknown, known: PublicError, requestId: string) => {
    if (known.reason === 'storage_full' || known.reason === 'storage_unavailable')
      logStorageFault(error, known.message);
    else if (known.status >= 500 && known.reason === 'internal')
      app.log.error({ err: error, requestId }, 'request failed');
    else if (known.reason === 'upstream_failed' || known.reason === 'upstream_timeout')
      app.log.warn({ requestId, reason: describeUpstreamFault(error) }, known.message);
    else app.log.debug({ requestId, reason: known.reason, param: known.param }, known.message);
  };

  const wrongKeys = createWrongKeyDelay(() => performance.now());
  const delayWrongKey = async ({ socket }: Pick<IncomingMessage, 'socket'>) => {
    const delayMs = wrongKeys.next(socket.remoteAddress ?? '');
    if (delayMs > 0) await wait(delayMs, undefined, { ref: false });
  };

  app.setErrorHandler((error, request, reply) => {
    const known = toFrameworkError(error, request.id);
    onError(error, known, request.id);
    reply.code(known.status).headers(toErrorHeaders(known)).send(toErrorBody(known, 'openai'));
  });

  const spans = traceRequests(app, tracing);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'x-request-id': request.id, ...SAFE_REPLY_HEADERS });
    // So that the client's next request opens a connection, to another server, before this one closes those that it keeps.
    if (isStopping()) reply.header('connection', 'close');
    checkHeaders(request.raw, allowedHosts);
    setIdleWriteTimeout(reply.raw, {
      timeoutMs: stalledReaderMs,
      onTimeout: () => app.log.warn({ requestId: request.id }, 'client stopped reading, connection ended'),
    });
    done();
  });
  await app.register(cors, {
    origin: corsOrigins === '*' ? '*' : [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'retry-after', IGNORED_FIELDS_HEADER, ...RATE_LIMIT_HEADERS],
    maxAge: CORS_MAX_AGE_S,
    // A plain OPTIONS gets the allowed methods too, instead of an error.
    strictPreflight: false,
  });

  app.addHook('onSend', async ({ headers }, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < COMPRESSED_FROM_BYTES) return payload;
    const {
      parts,
      byteCount,
      headers: added,
    } = await compressBody([Buffer.from(payload)], headers['accept-encoding']);
    reply.headers({ ...added, 'content-length': byteCount });
    return parts[0];
  });

  onReplyEnd(app, (request, reply, status) => {
    const handler = table.nameOf(request.method, request.url) ?? request.routeOptions.url ?? NO_HANDLER;
    metrics.requestAnswered({ method: request.method, handler, status, durationMs: reply.elapsedTime });
    spans.get(request)?.end({ route: handler, status });
  });
  await app.register(registerSystemRoutes, {
    catalog: services.models,
    storage: createStorageChecks(storage),
    metrics,
    metricsAccess,
    device,
    isStopping,
    router,
  });

  await app.register(registerTrpc, { router, services, stopping, onError, delayWrongKey });

  const dispatch = createDispatcher({
    beforeRefusal: delayWrongKey,
    router,
    services,
    table,
    bodyLimitBytes,
    streamedBodyLimitBytes,
    stopping,
    onError,
  });
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    await dispatch(request.raw, reply.raw, { requestId: request.id, headers: reply.getHeaders() });
  };
  await app.register(async rest => {
    // The dispatcher reads bodies itself, after it has checked the credentials.
    rest.removeAllContentTypeParsers();
    rest.addContentTypeParser('*', (_request, _payload, done) => done(null));
    // Fastify checks Content-Type first; the dispatcher refuses a wrong one itself, where the path takes the method.
    rest.setErrorHandler((error, request, reply) =>
      isMediaTypeFault(error) ? answer(request, reply) : reply.send(error),
    );
    rest.route({
      // OPTIONS belongs to the CORS plugin.
      method: app.supportedMethods.filter(method => method !== 'OPTIONS'),
      url: '/*',
      handler: answer,
    });
  });
  // Methods that Fastify does not route.
  app.setNotFoundHandler(answer);
  app.server.on('checkExpectation', answerUnmetExpectation);
  return app;
}
