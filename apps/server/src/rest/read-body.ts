// Reads a JSON request body from the socket under a size limit.

import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { ApiError, BodyCounts, parseJsonBody, releaseBytes } from '@ortler/api';
import { nextTurn } from '@ortler/worker';
import type { ErrorStyle } from './error-body.ts';

/**
 * Most of a body that is received in one turn of the event loop. From a fast client Node takes two megabytes in one turn, which took up to
 * 18 ms to count.
 */
const TURN_BYTES = 128 * 1024;
/** Parts of a streamed body that are received before they are asked for. Node reads at most 64 KiB at a time. */
const READ_AHEAD_PARTS = 16;

export interface ReadJsonBodyOptions {
  readonly limitBytes: number;
  /** Default: `openai`. */
  readonly style?: ErrorStyle;
  /** Deepest nesting. Default: that of all bodies. */
  readonly maxDepth?: number;
  /** Fires when the client leaves: then the rest of a large body is not parsed. */
  readonly signal: AbortSignal;
}

/**
 * Throws: `malformed_request` for another content type, `body_too_large` past the limits of size and count. An empty body and bad JSON are
 * `malformed_request` in the `openai` style and listed faults in the `detail` style. The reason of the signal.
 */
export async function readJsonBody(
  request: IncomingMessage,
  { limitBytes, style = 'openai', maxDepth, signal }: ReadJsonBodyOptions,
): Promise<unknown> {
  checkBodyHeaders(request);
  const parts = await readParts(request, limitBytes);
  return parseJsonBody(parts, { style, maxDepth, signal });
}

/** Throws: `malformed_request` for a body that is not plain JSON. */
export function checkBodyHeaders(request: IncomingMessage): void {
  const contentType = request.headers['content-type'] ?? '';
  if (!isJson(contentType))
    throw new ApiError(
      'malformed_request',
      `The body must have Content-Type: application/json; got ${contentType === '' ? 'none' : `"${contentType}"`}.`,
    );
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity')
    throw new ApiError(
      'malformed_request',
      `The body must not be compressed; got Content-Encoding: ${encoding}.`,
    );
}

/** Whether a header `Content-Type` says that a body is JSON. */
export function isJson(contentType = ''): boolean {
  return contentType.split(';', 1)[0]!.trim().toLowerCase() === 'application/json';
}

/** Whether the request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function readParts(request: IncomingMessage, limitBytes: number): Promise<readonly Buffer[]> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const parts: Buffer[] = [];
  let length = 0;
  let turnLength = 0;
  const counts = new BodyCounts();
  // Leaving an async iterator early would destroy the socket and with it the reply. So the rest of a body past the limit
  // is discarded by the caller's `resume`, after the reply has been written.
  const { promise, resolve, reject } = Promise.withResolvers<readonly Buffer[]>();
  const onData = (part: Buffer) => {
    try {
      length += part.length;
      if (length > limitBytes) throw tooLarge(limitBytes);
      counts.add(part);
      parts.push(part);
      turnLength += part.length;
      if (turnLength < TURN_BYTES) return;
      turnLength = 0;
      request.pause();
      void nextTurn().then(() => request.resume());
    } catch (error) {
      fail(error);
    }
  };
  const onEnd = () => settle(() => resolve(parts));
  const onLost = () => fail(new ApiError('aborted', 'The client left while it sent the body.'));
  const fail = (error: unknown) => {
    parts.forEach(releaseBytes);
    settle(() => reject(error));
  };
  const settle = (finish: () => void) => {
    request.off('data', onData).off('end', onEnd).off('close', onLost).off('error', onLost);
    finish();
  };
  request.on('data', onData).once('end', onEnd).once('close', onLost).once('error', onLost);
  return promise;
}

/**
 * The body as it arrives. Ending the iteration early keeps the connection open for the reply.
 * Throws: `malformed_request` for another content type, `body_too_large` past the limit, `aborted` when the client
 * disconnects.
 */
export async function* streamBody(request: IncomingMessage, limitBytes: number): AsyncGenerator<Uint8Array> {
  checkBodyHeaders(request);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  // That a client has left shows only after the last byte it sent. So the body is received ahead of its reader.
  // Its parts stay apart: joined, they would be copied, and their memory would wait for a collection of the whole heap.
  const ahead = new PassThrough({ readableObjectMode: true, readableHighWaterMark: READ_AHEAD_PARTS });
  const onClose = () => {
    if (!request.readableEnded) ahead.destroy(new Error('The connection was closed.'));
  };
  request.once('close', onClose).pipe(ahead);
  let length = 0;
  try {
    for await (const part of ahead) {
      length += (part as Buffer).length;
      if (length > limitBytes) break;
      yield part as Buffer;
    }
  } catch (error) {
    throw new ApiError('aborted', 'The client left while it sent the body.', { cause: error });
  } finally {
    // A reader in another thread may end after the reply, and the unread rest would then be left in the connection.
    discardBody(request.off('close', onClose).unpipe(ahead));
  }
  if (length > limitBytes) throw tooLarge(limitBytes);
}

/**
 * Discards the unread rest of a body, which would block the next request of its connection. Its memory is freed part by part: it may be as
 * large as a body that is read.
 */
export function discardBody(request: IncomingMessage): void {
  if (!request.complete) request.on('data', releaseBytes);
  request.resume();
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('body_too_large', `The body is larger than ${limitBytes} bytes.`);
}
