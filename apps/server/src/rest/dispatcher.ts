// Answers REST requests by calling the api's procedures: finds the route, gathers the input, writes JSON or a stream.
// tRPC calls the same procedures, so both transports give the same replies.

import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ApiContext,
  ApiError,
  type AppRouter,
  type BytesInput,
  isAsyncIterable,
  type PublicError,
  type RestRoute,
  requireBearer,
  type Services,
  toPublicError,
} from '@ortler/api';
import { stringifyLosslessJson } from '@ortler/json';
import { callTRPCProcedure } from '@trpc/server';
import { type ErrorStyle, toErrorBody, toErrorHeaders } from './error-body.ts';
import { writeJsonLines } from './json-lines.ts';
import { endAfterRequest } from './lingering-end.ts';
import { hasBody, readJsonBody, streamBody } from './read-body.ts';
import { createRequestContext } from './request-context.ts';
import type { RouteTable } from './route-table.ts';
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
}

type ReplyHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** What is known of the reply before the request is looked at. */
export interface ReplyStart {
  readonly requestId: string;
  /** Headers that others (CORS, the request id) want on the reply. */
  readonly headers: ReplyHeaders;
}

/** A path that nothing answers may be of any length. */
const SHOWN_PATH_LENGTH = 200;
/** Paths below it are for callers with a key, whether or not there is anything. */
const GUARDED_SEGMENT = 'v1';
const BROKEN_PATH = 'The path holds a broken percent escape.';

export type Dispatcher = (
  request: IncomingMessage,
  response: ServerResponse,
  reply: ReplyStart,
) => Promise<void>;

/** Builds the function that answers every REST request. It never throws. */
export function createDispatcher({
  router,
  services,
  table,
  bodyLimitBytes,
  streamedBodyLimitBytes,
  stopping,
  onError,
}: DispatcherOptions): Dispatcher {
  return async (request, response, { requestId, headers }) => {
    const { context, release } = createRequestContext(request, response, { requestId, stopping });
    let style: ErrorStyle = 'openai';
    let scheme: 'Bearer' | 'Basic' = 'Bearer';
    let input: unknown;
    let reading: Promise<unknown> | undefined;
    const isHalfRead = () => request.readableDidRead && !request.complete;
    const fail = (error: unknown, extraHeaders: ReplyHeaders = {}) => {
      const known = toPublicError(error, requestId, input);
      onError(error, known, requestId);
      if (response.destroyed || response.headersSent) return;
      // The rest of a body that is too large, or is refused half way, is not worth a kept connection.
      const isCut = !request.readableEnded && (known.status === 413 || isHalfRead());
      const closing = isCut ? { connection: 'close' } : {};
      const all = { ...headers, ...toErrorHeaders(known, scheme), ...closing, ...extraHeaders };
      writeJson(response, known.status, toErrorBody(known, style), all);
      if (isCut) endAfterRequest(request, response);
      else response.end();
    };
    const readInput = async (
      route: RestRoute,
      search: string,
      params: Readonly<Record<string, string>>,
    ): Promise<unknown> => {
      if (route.bytesProcedure !== null)
        return { params, body: streamBody(request, streamedBodyLimitBytes) } satisfies BytesInput;
      const given =
        route.method === 'GET'
          ? Object.fromEntries(new URLSearchParams(search))
          : route.method === 'DELETE' && !hasBody(request)
            ? {}
            : await readJsonBody(request, bodyLimitBytes, route.errors);
      input = withParams(given, params);
      return input;
    };
    try {
      const { path, search } = splitUrl(request.url!);
      style = table.errorsNear(path);
      const match = table.match(request.method!, path);
      if (match.kind !== 'found' && decodeURIComponent(path.split('/', 2)[1] ?? '') === GUARDED_SEGMENT)
        await requireBearer(services, context.credentials);
      if (match.kind === 'unknown') {
        fail(new ApiError('path_not_found', `There is nothing at ${shorten(path)}.`));
        return;
      }
      if (match.kind === 'wrong-method') {
        const allow = match.allowed.join(', ');
        const message = `${shorten(path)} answers ${allow}, not ${request.method}.`;
        fail(new ApiError('method_not_allowed', message), { allow });
        return;
      }
      const { route, params } = match;
      style = route.errors;
      if (route.auth === 'basic') scheme = 'Basic';
      const result: unknown = await callTRPCProcedure({
        router,
        path: route.bytesProcedure ?? route.procedure,
        type: route.type,
        ctx: withSchemeOf(route, context),
        signal: context.signal,
        batchIndex: 0,
        // Read on demand: the procedure asks for its input only after it has checked the credentials.
        // Several steps may ask; the body can be read once.
        getRawInput: () => (reading ??= readInput(route, search, params)),
      });
      if (isAsyncIterable(result)) {
        const onStreamError = (error: unknown, known: PublicError) => onError(error, known, requestId);
        const options = { headers, requestId, onError: onStreamError };
        if (route.lines) await writeJsonLines(response, result as AsyncIterable<string>, options);
        else await writeEventStream(response, result, options);
      } else {
        writeJson(response, 200, result, headers);
        response.end();
      }
    } catch (error) {
      fail(error instanceof URIError ? new ApiError('malformed_request', BROKEN_PATH) : error);
    } finally {
      release();
      // What is left of a body that nobody read would block the connection's next request.
      request.resume();
    }
  };
}

/** The context with credentials of the scheme that the route names, or none. */
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

function withParams(body: unknown, params: Readonly<Record<string, string>>): unknown {
  if (Object.keys(params).length === 0) return body;
  // What is no object stays as it is, for the schema to refuse.
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return { ...body, ...params };
}

/** Writes all of a reply, which is for the caller to end. */
function writeJson(response: ServerResponse, status: number, body: unknown, headers: ReplyHeaders): void {
  if (response.destroyed) return;
  const text = toJsonText(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.write(text);
}

/** Replies hold big integers only where they repeat what a client sent, so the plain writer is tried first. */
function toJsonText(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringifyLosslessJson(body);
  }
}
