// Answers REST requests by calling the api's procedures: finds the route, gathers the input, writes JSON or a stream.
// tRPC calls the same procedures, so both transports give the same replies.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, type AppRouter, type PublicError, toPublicError } from '@ortler/api';
import { callTRPCProcedure } from '@trpc/server';
import { type ErrorStyle, toErrorBody, toErrorHeaders } from './error-body.ts';
import { readJsonBody } from './read-body.ts';
import { createRequestContext } from './request-context.ts';
import { createRouteTable } from './route-table.ts';
import { writeEventStream } from './sse.ts';

export interface DispatcherOptions {
  readonly router: AppRouter;
  readonly bodyLimitBytes: number;
  /** Fires when the server stops waiting for open requests. */
  readonly stopping: AbortSignal;
  readonly onError: (error: unknown, known: PublicError, requestId: string) => void;
}

/** Headers that others (CORS) want on the reply. */
type ReplyHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export type Dispatcher = (
  request: IncomingMessage,
  response: ServerResponse,
  headers: ReplyHeaders,
) => Promise<void>;

/** Builds the function that answers every REST request. It never throws. */
export function createDispatcher({
  router,
  bodyLimitBytes,
  stopping,
  onError,
}: DispatcherOptions): Dispatcher {
  const table = createRouteTable(router);

  return async (request, response, corsHeaders) => {
    const { context, release } = createRequestContext(request, response, stopping);
    const { requestId } = context;
    const headers: ReplyHeaders = { ...corsHeaders, 'x-request-id': requestId };
    let style: ErrorStyle = 'openai';
    let input: unknown;
    try {
      const [path = '/', search = ''] = request.url!.split('?', 2);
      const match = table.match(request.method!, path);
      if (match.kind === 'unknown') throw new ApiError('path_not_found', `There is nothing at ${path}.`);
      if (match.kind === 'wrong-method') {
        const allow = match.allowed.join(', ');
        const error = new ApiError('method_not_allowed', `${path} answers ${allow}, not ${request.method}.`);
        return writeError(response, error, { ...headers, allow }, style);
      }
      const { route, params } = match;
      style = route.errors;
      const result: unknown = await callTRPCProcedure({
        router,
        path: route.procedure,
        type: route.type,
        ctx: context,
        signal: context.signal,
        batchIndex: 0,
        // Read on demand: the procedure asks for its input only after it has checked the credentials.
        getRawInput: async () => {
          if (route.method === 'GET')
            input = { ...Object.fromEntries(new URLSearchParams(search)), ...params };
          else input = withParams(await readJsonBody(request, bodyLimitBytes), params);
          return input;
        },
      });
      if (isAsyncIterable(result)) {
        const onStreamError = (error: unknown, known: PublicError) => onError(error, known, requestId);
        await writeEventStream(response, result, { headers, requestId, onError: onStreamError });
      } else {
        writeJson(response, 200, result, headers);
      }
    } catch (error) {
      writeError(response, error, headers, style);
    } finally {
      release();
      // What is left of a body that nobody read would block the connection's next request.
      request.resume();
    }

    function writeError(
      target: ServerResponse,
      error: unknown,
      replyHeaders: ReplyHeaders,
      errorStyle: ErrorStyle,
    ) {
      const known =
        error instanceof URIError ? brokenPath(requestId) : toPublicError(error, requestId, input);
      onError(error, known, requestId);
      if (target.destroyed || target.headersSent) return;
      const closing = known.status === 413 ? { connection: 'close' } : {};
      const all = { ...replyHeaders, ...toErrorHeaders(known), ...closing };
      writeJson(target, known.status, toErrorBody(known, errorStyle), all);
    }
  };
}

function brokenPath(requestId: string): PublicError {
  const error = new ApiError('malformed_request', 'The path holds a broken percent escape.');
  return toPublicError(error, requestId);
}

function withParams(body: unknown, params: Readonly<Record<string, string>>): unknown {
  if (Object.keys(params).length === 0 || typeof body !== 'object' || body === null) return body;
  return { ...body, ...params };
}

function writeJson(response: ServerResponse, status: number, body: unknown, headers: ReplyHeaders): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
