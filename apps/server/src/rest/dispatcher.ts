// Answers REST requests by calling the api's procedures: find the route, authenticate, read the input, call, reply with
// JSON or a stream. tRPC calls the same procedures, so both transports give the same replies.

import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ApiContext,
  ApiError,
  type AppRouter,
  isAsyncIterable,
  type PublicError,
  type RestRoute,
  requireBearer,
  type Services,
  toPublicError,
} from '@ortler/api';
import { callTRPCProcedure } from '@trpc/server';
import { writeJsonLines } from './json-lines.ts';
import { type ErrorFormat, type ReplyHeaders, sendError, sendJson } from './json-reply.ts';
import { describeMissing } from './missing-endpoints.ts';
import { discardBody } from './read-body.ts';
import { createRequestContext } from './request-context.ts';
import { RequestInput } from './request-input.ts';
import type { FoundRoute, RouteTable } from './route-table.ts';
import { writeEventStream } from './sse.ts';

export interface DispatcherOptions {
  readonly router: AppRouter;
  readonly services: Pick<Services, 'credentials'>;
  /** The routes of the router. */
  readonly table: RouteTable;
  readonly bodyLimitBytes: number;
  /** For bodies that are read as they arrive. */
  readonly streamedBodyLimitBytes: number;
  /** Fires when the server stops waiting for open requests. */
  readonly stopping: AbortSignal;
  readonly onError: (error: unknown, known: PublicError, requestId: string) => void;
  /** Awaited before a wrong key is refused. */
  readonly beforeRefusal?: (request: IncomingMessage) => Promise<void>;
}

/** Known before the request is read. */
export interface ReplyStart {
  readonly requestId: string;
  /** Headers that others (CORS, the request id) want on the reply. */
  readonly headers: ReplyHeaders;
}

/** One request, its reply and its context. */
interface Exchange extends ReplyStart {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: ApiContext;
}

/** Unknown paths are cut to this length in messages. */
const SHOWN_PATH_LENGTH = 200;
/** Below this segment only callers with a key learn whether a path exists. */
const GUARDED_SEGMENT = 'v1';
const BROKEN_PATH = 'The path holds a broken percent escape.';

export type Dispatcher = (
  request: IncomingMessage,
  response: ServerResponse,
  reply: ReplyStart,
) => Promise<void>;

/** Builds the function that answers every REST request. It never throws. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const {
    router,
    services,
    table,
    bodyLimitBytes,
    streamedBodyLimitBytes,
    stopping,
    onError,
    beforeRefusal,
  } = options;

  async function answer(exchange: Exchange): Promise<void> {
    const { path, search } = splitUrl(exchange.request.url!);
    let found: FoundRoute;
    try {
      found = await findRoute(exchange, path);
    } catch (error) {
      await reportError(exchange, error, { style: table.errorsNear(path), scheme: 'Bearer' });
      return;
    }
    const { route, params } = found;
    const limits = { bodyLimitBytes, streamedBodyLimitBytes };
    const { signal } = exchange.context;
    const input = new RequestInput(exchange.request, { route, params, search, ...limits, signal });
    try {
      const result = await callProcedure(exchange, route, input);
      await sendResult(exchange, route, result);
    } catch (error) {
      const scheme = route.auth === 'basic' ? 'Basic' : 'Bearer';
      await reportError(exchange, error, { style: route.errors, scheme }, input.parsed);
    }
  }

  /** Throws: `path_not_found`, `method_not_allowed`, `malformed_request`, and `unauthorized` in place of the first two. */
  async function findRoute({ request, response, context }: Exchange, path: string): Promise<FoundRoute> {
    try {
      const match = table.match(request.method!, path);
      if (match.kind === 'found') return match;
      if (decodeURIComponent(path.split('/', 2)[1] ?? '') === GUARDED_SEGMENT)
        await requireBearer(services, context.credentials);
      if (match.kind === 'unknown')
        throw new ApiError('path_not_found', describeMissing(path, shorten(path)));
      const allow = match.allowed.join(', ');
      response.setHeader('allow', allow);
      throw new ApiError('method_not_allowed', `${shorten(path)} answers ${allow}, not ${request.method}.`);
    } catch (error) {
      throw error instanceof URIError ? new ApiError('malformed_request', BROKEN_PATH) : error;
    }
  }

  /** The procedure checks the credentials before it asks for its input. */
  function callProcedure({ context }: Exchange, route: RestRoute, input: RequestInput): Promise<unknown> {
    return callTRPCProcedure({
      router,
      path: route.bytesProcedure ?? route.procedure,
      type: route.type,
      ctx: withSchemeOf(route, context),
      signal: context.signal,
      batchIndex: 0,
      getRawInput: () => input.read(),
    });
  }

  async function sendResult(exchange: Exchange, route: RestRoute, result: unknown): Promise<void> {
    const { request, response, requestId, headers } = exchange;
    if (!isAsyncIterable(result)) {
      await sendJson(request, response, result, headers);
      return;
    }
    const onStreamError = (error: unknown, known: PublicError) => onError(error, known, requestId);
    const streamOptions = { headers, requestId, onError: onStreamError };
    if (route.lines) await writeJsonLines(response, result as AsyncIterable<string>, streamOptions);
    else {
      const hasNamedEvents = route.streams === 'ResponseStreamEvent';
      await writeEventStream(response, result, { ...streamOptions, hasNamedEvents });
    }
  }

  async function reportError(
    exchange: Exchange,
    error: unknown,
    format: ErrorFormat,
    input?: unknown,
  ): Promise<void> {
    const { request, response, requestId, headers } = exchange;
    const known = toPublicError(error, requestId, input);
    onError(error, known, requestId);
    // A request without a key does not count as a wrong guess.
    if (known.status === 401 && request.headers.authorization !== undefined) await beforeRefusal?.(request);
    sendError(request, response, { error: known, ...format, headers });
  }

  return async (request, response, { requestId, headers }) => {
    const { context, release } = createRequestContext(request, response, { requestId, stopping });
    try {
      await answer({ request, response, requestId, headers, context });
    } finally {
      release();
      discardBody(request);
    }
  };
}

/** The context with the credentials of the scheme that the route names, or with none. */
function withSchemeOf({ auth }: RestRoute, context: ApiContext): ApiContext {
  const { credentials } = context;
  return credentials.kind === auth ? context : { ...context, credentials: { kind: 'none' } };
}

function splitUrl(url: string): { path: string; search: string } {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark) };
}

function shorten(path: string): string {
  return path.length <= SHOWN_PATH_LENGTH ? path : `${path.slice(0, SHOWN_PATH_LENGTH)}...`;
}
