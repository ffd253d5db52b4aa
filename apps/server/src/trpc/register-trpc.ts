// The tRPC routes of the HTTP application, below /trpc, with the checks that REST routes have in the dispatcher.

import {
  type createAppRouter,
  MAX_BATCH_CALLS,
  type PublicError,
  requireAnyKey,
  type Services,
  toPublicCallError,
  toPublicError,
} from '@ortler/api';
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseCredentials } from '../rest/credentials.ts';
import { toErrorHeaders, toTrpcErrorBody } from '../rest/error-body.ts';
import { toFrameworkError } from '../rest/framework-fault.ts';
import { createRequestContext, type RequestContext } from '../rest/request-context.ts';
import { emptyPayload, type ReadInput, readInputs } from './read-inputs.ts';
import { refuseForms } from './refuse-forms.ts';
import { refuseLargeBatch } from './refuse-large-batch.ts';
import { spliceJson } from './splice-json.ts';

export interface TrpcOptions {
  readonly router: ReturnType<typeof createAppRouter>;
  readonly services: Pick<Services, 'credentials'>;
  /** Ends every open request when it fires. */
  readonly stopping: AbortSignal;
  readonly onError: (error: unknown, known: PublicError, requestId: string) => void;
  /** Waits where a wrong key is refused. */
  readonly delayWrongKey: (request: FastifyRequest) => Promise<void>;
}

/** A Fastify plugin. */
export async function registerTrpc(
  app: FastifyInstance,
  { router, services, stopping, onError, delayWrongKey }: TrpcOptions,
): Promise<void> {
  // Disables buffering in proxies that know the header, so that streams arrive at once. REST streams send it too.
  app.addHook('onRequest', ({ headers }, reply, done) => {
    reply.header('x-accel-buffering', 'no');
    refuseForms(headers['content-type']);
    done();
  });
  // Before the body is read, and before a stream begins, whose status is always 200.
  // The procedure refuses what has no body: subscriptions and batches have forms of their own for it.
  app.addHook('onRequest', async request => {
    const { authorization } = request.headers;
    try {
      await requireAnyKey(services, parseCredentials(authorization));
    } catch (error) {
      const isWrongKey = authorization !== undefined && toPublicError(error, request.id).status === 401;
      if (isWrongKey) await delayWrongKey(request);
      if (request.method !== 'GET') throw error;
    }
  });
  const contexts = new WeakMap<FastifyRequest, RequestContext>();
  const inputs = new WeakMap<FastifyRequest, ReadInput>();
  app.addHook<{ Params: { path?: string } }>('preParsing', async (request, reply, payload) => {
    refuseLargeBatch(request.params.path ?? '');
    const created = createRequestContext(request.raw, reply.raw, { requestId: request.id, stopping });
    contexts.set(request, created);
    const readInput = await readInputs(request, created.context.signal);
    if (readInput === null) return payload;
    inputs.set(request, readInput);
    return emptyPayload(request);
  });
  // Errors that Fastify raises before tRPC sees the request, such as a body past the limit, in tRPC's error shape.
  app.setErrorHandler((error, request, reply) => {
    const known = toFrameworkError(error, request.id);
    onError(error, known, request.id);
    reply.code(known.status).headers(toErrorHeaders(known)).send(toTrpcErrorBody(known, request.id));
  });
  // tRPC names no content type where it refuses that of the request, so its JSON would go out as plain text.
  app.addHook('onSend', async (_request, _reply, payload: unknown) => {
    if (!(payload instanceof Response) || payload.status < 400) return payload;
    const headers = new Headers(payload.headers);
    headers.set('content-type', 'application/json');
    return new Response(payload.body, { status: payload.status, headers });
  });
  app.addHook('onSend', async (request, _reply, payload: unknown) => {
    const texts = contexts.get(request)?.texts;
    if (texts === undefined || !(payload instanceof Response) || payload.body === null) return payload;
    return new Response(payload.body.pipeThrough(spliceJson(texts)), payload);
  });
  await app.register(fastifyTRPCPlugin<typeof router>, {
    prefix: '/trpc',
    trpcOptions: {
      router,
      maxBatchSize: MAX_BATCH_CALLS,
      // Queries may come by POST too, because long inputs do not fit into a URL.
      allowMethodOverride: true,
      createContext: ({ req, info }) => ({
        ...contexts.get(req)!.context,
        readInput: inputs.get(req),
        canStream: info.accept === 'application/jsonl',
      }),
      // As REST replies have it.
      responseMeta: ({ errors }) => {
        const waitMs = Math.max(0, ...errors.map(error => toPublicError(error, '').retryAfterMs ?? 0));
        return waitMs === 0 ? {} : { headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) } };
      },
      onError: ({ error, req, input }) => onError(error, toPublicCallError(error, req.id, input), req.id),
    },
  });
}
