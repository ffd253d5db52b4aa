// Reads a JSON request body from the socket under a size limit.

import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { ApiError, invalidInput, nextTurn, releaseBytes } from '@ortler/api';
import { describeJsonLimit, JsonSyntaxError, parseLosslessJsonInSlices } from '@ortler/json';
import { toJsonSyntaxDetails } from '@ortler/schemas';
import { BodyCounts } from './body-counts.ts';
import type { ErrorStyle } from './error-body.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A step over so much text takes about a millisecond. */
const LARGE_BODY_BYTES = 262_144;

/** Most of a streamed body that is received before it is asked for. */
const READ_AHEAD_BYTES = 1024 * 1024;

export interface ReadJsonBodyOptions {
  readonly limitBytes: number;
  /** Default: `openai`. */
  readonly style?: ErrorStyle;
  /** Fires when the client leaves: then the rest of a large body is not parsed. */
  readonly signal: AbortSignal;
}

/**
 * Throws: `malformed_request` for another content type, `body_too_large` past the limits of size and count. An empty body and bad JSON are
 * `malformed_request` in the `openai` style and listed faults in the `detail` style. The reason of the signal.
 */
export async function readJsonBody(
  request: IncomingMessage,
  { limitBytes, style = 'openai', signal }: ReadJsonBodyOptions,
): Promise<unknown> {
  checkBodyHeaders(request);
  const { parts, length } = await readParts(request, limitBytes);
  if (length === 0) {
    if (style === 'detail') throw invalidInput([{ loc: ['body'], msg: 'Field required', type: 'missing' }]);
    throw new ApiError('malformed_request', 'The body is empty; it must be a JSON object.');
  }
  try {
    // Each step of a large body is a turn of its own, so that several such bodies do not add up to one long turn.
    const isLarge = length > LARGE_BODY_BYTES;
    if (isLarge) await yieldUnlessAborted(signal);
    const bytes = Buffer.concat(parts, length);
    if (isLarge) await yieldUnlessAborted(signal);
    const text = utf8.decode(bytes);
    releaseBytes(bytes);
    if (isLarge) await yieldUnlessAborted(signal);
    return await parseInTurns(text, signal);
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error;
    throw toJsonError(error, style);
  }
}

/** The error of a text that is no JSON, or beyond a limit of it. */
function toJsonError(error: unknown, style: ErrorStyle): ApiError {
  // Bytes that are not UTF-8 have no character position.
  const { position, limit } = error instanceof JsonSyntaxError ? error : { position: 0, limit: null };
  const beyond = describeJsonLimit(limit);
  if (style === 'detail') return invalidInput(toJsonSyntaxDetails(position, beyond));
  const reason = error instanceof Error ? error.message : String(error);
  const message =
    beyond === undefined
      ? `The body is not valid JSON: ${reason}`
      : `The body holds ${beyond}, at position ${position}.`;
  return new ApiError('malformed_request', message, { cause: error });
}

/** Parses a large body in slices and yields to the event loop between them. Throws: `JsonSyntaxError`, the reason of the signal. */
async function parseInTurns(text: string, signal: AbortSignal): Promise<unknown> {
  const reading = parseLosslessJsonInSlices(text);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    await yieldUnlessAborted(signal);
  }
}

/** Throws: the reason of the signal. */
async function yieldUnlessAborted(signal: AbortSignal): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}

/** Throws: `malformed_request` for a body that is not plain JSON. */
export function checkBodyHeaders(request: IncomingMessage): void {
  const contentType = request.headers['content-type'] ?? '';
  if (contentType.split(';', 1)[0]!.trim().toLowerCase() !== 'application/json')
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

/** Whether the request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

interface BodyParts {
  readonly parts: readonly Buffer[];
  readonly length: number;
}

async function readParts(request: IncomingMessage, limitBytes: number): Promise<BodyParts> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const parts: Buffer[] = [];
  let length = 0;
  const counts = new BodyCounts();
  // Leaving an async iterator early would destroy the socket and with it the reply. So the rest of a body past the limit
  // is discarded by the caller's `resume`, after the reply has been written.
  const { promise, resolve, reject } = Promise.withResolvers<BodyParts>();
  const onData = (part: Buffer) => {
    try {
      length += part.length;
      if (length > limitBytes) throw tooLarge(limitBytes);
      counts.add(part);
      parts.push(part);
    } catch (error) {
      settle(() => reject(error));
    }
  };
  const onEnd = () => settle(() => resolve({ parts, length }));
  const onLost = () =>
    settle(() => reject(new ApiError('aborted', 'The client left while it sent the body.')));
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
  // That a client has left shows only behind the last byte it sent. So the body is received ahead of its reader.
  const ahead = new PassThrough({ readableHighWaterMark: READ_AHEAD_BYTES });
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
    request.off('close', onClose).unpipe(ahead);
  }
  if (length > limitBytes) throw tooLarge(limitBytes);
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('body_too_large', `The body is larger than ${limitBytes} bytes.`);
}
