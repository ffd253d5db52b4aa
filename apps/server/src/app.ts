// The HTTP application: REST and tRPC over the same procedures, and the system routes. It opens no port, so tests call
// `app.inject`.

import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import cors from '@fastify/cors';
import {
  createAppRouter,
  type JsonText,
  MAX_BATCH_CALLS,
  type PublicError,
  type Services,
  toPublicError,
} from '@ortler/api';
import type { DeviceChoice } from '@ortler/onnxruntime';
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify';
import { answerUnmetExpectation, createBrokenRequestHandler } from './rest/broken-request.ts';
import { checkBodyCounts } from './rest/check-body-counts.ts';
import { type AllowedHosts, checkHeaders } from './rest/check-headers.ts';
import { COMPRESSED_FROM_BYTES, compressBody } from './rest/compress.ts';
import { createDispatcher } from './rest/dispatcher.ts';
import { toErrorBody, toErrorHeaders, toTrpcErrorBody } from './rest/error-body.ts';
import { setIdleWriteTimeout } from './rest/idle-write-timeout.ts';
import { SAFE_REPLY_HEADERS } from './rest/page-headers.ts';
import { refuseLargeBatch } from './rest/refuse-large-batch.ts';
import { chooseRequestId, createRequestContext } from './rest/request-context.ts';
import { createRouteTable } from './rest/route-table.ts';
import { spliceJson } from './rest/splice-json.ts';
import { createWrongKeyDelay } from './rest/wrong-key-delay.ts';
import type { Metrics } from './system/metrics.ts';
import { createStorageChecks, type StorageChecksOptions } from './system/storage-checks.ts';
import { createStorageLog } from './system/storage-log.ts';
import { type MetricsAccess, registerSystemRoutes } from './system/system-routes.ts';
import { describeUpstreamFault } from './system/upstream-log.ts';
import type { RequestSpan, Tracing } from './tracing/tracing.ts';

export interface AppOptions {
  readonly services: Services;
  readonly metrics: Metrics;
  /** Disk and databases that `/health` reports. */
  readonly storage?: StorageChecksOptions;
  /** The device that models run on, once it is chosen. */
  readonly device?: () => DeviceChoice | undefined;
  /** Whether the server has been told to stop and health says so. Default: never. */
  readonly isStopping?: () => boolean;
  readonly bodyLimitBytes: number;
  /** Limit of bodies that are streamed to the store: logged trajectories. */
  readonly streamedBodyLimitBytes: number;
  /** Idle write timeout: longest time a client may read nothing of a reply that is waiting for it. 0: no limit. */
  readonly stalledReaderMs: number;
  readonly corsOrigins: '*' | readonly string[];
  /** Host names that requests may come by. Default: all. */
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
/** Longest time a client may take to send its request. */
const REQUEST_TIMEOUT_MS = 120_000;
/** Origin of a request line in absolute form, with the first slash of its path. */
const ORIGIN = /^https?:\/\/[^/?#]*\/?/i;
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
  const app: FastifyInstance = fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    bodyLimit: bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    forceCloseConnections: 'idle',
    genReqId: chooseRequestId,
    // Proxies may send the absolute form of the request target. Source: RFC 9112, section 3.2.2.
    rewriteUrl: ({ url = '/' }) => url.replace(ORIGIN, '/'),
    clientErrorHandler: createBrokenRequestHandler(corsOrigins),
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const known: PublicError = { ...toPublicError(error, request.id), ...frameworkFault(error) };
      reply.code(known.status).header('x-request-id', request.id).send(toErrorBody(known, 'openai'));
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
    const known: PublicError = { ...toPublicError(error, request.id), ...frameworkFault(error) };
    onError(error, known, request.id);
    reply.code(known.status).headers(toErrorHeaders(known)).send(toErrorBody(known, 'openai'));
  });

  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  if (tracing !== undefined) traceRequests(app, tracing, spans);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'x-request-id': request.id, ...SAFE_REPLY_HEADERS });
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
    exposedHeaders: ['x-request-id', 'retry-after', ...RATE_LIMIT_HEADERS],
    maxAge: CORS_MAX_AGE_S,
    // A plain OPTIONS gets the allowed methods too, instead of an error.
    strictPreflight: false,
  });

  app.addHook('onSend', async ({ headers }, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < COMPRESSED_FROM_BYTES) return payload;
    const { body, headers: added } = await compressBody(payload, headers['accept-encoding']);
    reply.headers({ ...added, 'content-length': body.length });
    return body;
  });

  const router = createAppRouter(services);
  const table = createRouteTable(router);
  app.addHook('onResponse', (request, reply, done) => {
    const { raw } = reply;
    const handler = table.nameOf(request.method, request.url) ?? request.routeOptions.url ?? 'none';
    metrics.requestAnswered({
      method: request.method,
      handler,
      status: raw.statusCode,
      durationMs: reply.elapsedTime,
    });
    spans.get(request)?.end({ route: handler, status: raw.statusCode });
    done();
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

  await app.register(async trpc => {
    // Disables buffering in proxies that know the header, so that streams arrive at once. REST streams send it too.
    trpc.addHook('onRequest', (_request, reply, done) => {
      reply.header('x-accel-buffering', 'no');
      done();
    });
    trpc.addHook<{ Params: { path?: string } }>('preValidation', async ({ params, body }) => {
      refuseLargeBatch(params.path ?? '');
      // tRPC parses the text at once.
      if (typeof body === 'string') checkBodyCounts(body);
    });
    trpc.addHook('onSend', async (request, reply) => {
      if (reply.statusCode === 401 && request.headers.authorization !== undefined)
        await delayWrongKey(request);
    });
    // Errors that Fastify raises before tRPC sees the request, such as a body past the limit, in tRPC's error shape.
    trpc.setErrorHandler((error, request, reply) => {
      const known: PublicError = { ...toPublicError(error, request.id), ...frameworkFault(error) };
      onError(error, known, request.id);
      reply.code(known.status).send(toTrpcErrorBody(known, request.id));
    });
    // tRPC names no content type where it refuses that of the request, so its JSON would go out as plain text.
    trpc.addHook('onSend', async (_request, _reply, payload: unknown) => {
      if (!(payload instanceof Response) || payload.status < 400) return payload;
      const headers = new Headers(payload.headers);
      headers.set('content-type', 'application/json');
      return new Response(payload.body, { status: payload.status, headers });
    });
    const textsOf = new WeakMap<FastifyRequest, readonly JsonText[]>();
    trpc.addHook('onSend', async (request, _reply, payload: unknown) => {
      const texts = textsOf.get(request);
      if (texts === undefined || !(payload instanceof Response) || payload.body === null) return payload;
      return new Response(payload.body.pipeThrough(spliceJson(texts)), payload);
    });
    await trpc.register(fastifyTRPCPlugin<typeof router>, {
      prefix: '/trpc',
      trpcOptions: {
        router,
        maxBatchSize: MAX_BATCH_CALLS,
        // Queries may come by POST too, because long inputs do not fit into a URL.
        allowMethodOverride: true,
        createContext: ({ req, res }) => {
          const { context, texts } = createRequestContext(req.raw, res.raw, { requestId: req.id, stopping });
          textsOf.set(req, texts);
          return context;
        },
        onError: ({ error, req, input }) => onError(error, toPublicError(error, req.id, input), req.id),
      },
    });
  });

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

/** Opens a span for each request, and enters it again where a body that was read has left it. */
function traceRequests(
  app: FastifyInstance,
  tracing: Pick<Tracing, 'startRequest'>,
  spans: WeakMap<FastifyRequest, RequestSpan>,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers;
    const span = tracing.startRequest({
      method: request.method,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    spans.set(request, span);
    span.run(done);
  });
  app.addHook('preHandler', (request, _reply, done) => spans.get(request)!.run(done));
}

function isMediaTypeFault(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE';
}

// Errors that Fastify raises before any of our code runs.
function frameworkFault(error: unknown): Partial<PublicError> {
  const { statusCode, message } = error as { readonly statusCode?: number; readonly message?: string };
  if (statusCode === undefined || statusCode >= 500 || message === undefined) return {};
  if (statusCode === 413)
    return { reason: 'body_too_large', status: 413, type: 'Request Entity Too Large', message };
  const reason = statusCode === 404 ? 'path_not_found' : 'malformed_request';
  return { reason, status: statusCode, type: statusCode === 404 ? 'Not Found' : 'Bad Request', message };
}
