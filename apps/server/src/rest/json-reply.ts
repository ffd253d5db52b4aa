// Whole JSON replies, results and errors, written to a raw response. Caller: `dispatcher.ts`.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { JsonText, type PublicError, releaseBytes } from '@ortler/api';
import { stringifyLosslessJson } from '@ortler/json';
import { compressBody } from './compress.ts';
import { type ErrorStyle, toErrorBody, toErrorHeaders } from './error-body.ts';
import { discardBody } from './read-body.ts';

export type ReplyHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** How the route, or the routes around an unknown path, report errors. */
export interface ErrorFormat {
  readonly style: ErrorStyle;
  /** Named by the challenge of a 401. */
  readonly scheme: 'Bearer' | 'Basic';
}

/** Longest time a client may go on sending a body after its request was refused. Unit: milliseconds. */
const LINGER_MS = 2_000;

/** Writes a result and ends the reply. A large one is compressed for clients that accept it. */
export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
  headers: ReplyHeaders,
): Promise<void> {
  const {
    parts,
    byteCount,
    headers: added,
  } = await compressBody(
    body instanceof JsonText ? body.parts : [Buffer.from(toJsonText(body))],
    request.headers['accept-encoding'],
  );
  if (response.destroyed) return;
  response.once('finish', () => {
    for (const part of parts) releaseBytes(part);
  });
  response.writeHead(200, {
    ...headers,
    ...added,
    'content-type': 'application/json; charset=utf-8',
    'content-length': byteCount,
  });
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
}

/** Writes an error and ends the reply, unless a reply has begun already. */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  {
    error,
    style,
    scheme,
    headers,
  }: ErrorFormat & { readonly error: PublicError; readonly headers: ReplyHeaders },
): void {
  if (response.destroyed || response.headersSent) return;
  // Reading the rest of a body that is too large, or was refused half way, costs more than a new connection.
  const isHalfRead = request.readableDidRead && !request.complete;
  const isCut = !request.readableEnded && (error.status === 413 || isHalfRead);
  const closing = isCut ? { connection: 'close' } : {};
  writeJson(response, error.status, toErrorBody(error, style), {
    ...headers,
    ...toErrorHeaders(error, scheme),
    ...closing,
  });
  if (isCut) endLingering(request, response);
  else response.end();
}

/** Writes a whole reply without ending it. */
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
export function toJsonText(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringifyLosslessJson(body);
  }
}

/**
 * Lingering close: discards the rest of the request, then ends the reply, at the latest after `LINGER_MS`. Closing with
 * unread bytes resets the connection, and a reset can overtake the reply: the client would see a broken pipe instead of
 * the error.
 */
function endLingering(request: IncomingMessage, response: ServerResponse): void {
  const end = () => {
    clearTimeout(limit);
    request.off('end', end).off('close', end);
    response.end();
  };
  const limit = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end);
  discardBody(request);
}
