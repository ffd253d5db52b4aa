// Reads a JSON request body from the socket under a size limit.

import type { IncomingMessage } from 'node:http';
import { ApiError } from '@ortler/api';
import { parseLosslessJson } from '@ortler/schemas';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Throws: `malformed_request` for another content type or bad JSON, `body_too_large` past the limit. */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<unknown> {
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
  const bytes = await readBytes(request, limitBytes);
  if (bytes.length === 0)
    throw new ApiError('malformed_request', 'The body is empty; it must be a JSON object.');
  try {
    return parseLosslessJson(utf8.decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError('malformed_request', `The body is not valid JSON: ${reason}`, { cause: error });
  }
}

async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const parts: Buffer[] = [];
  let length = 0;
  // Ending this loop early would destroy the socket and with it the reply, so a body past the limit is read to
  // nothing by the caller's `resume` after the reply has been written.
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const onData = (part: Buffer) => {
    length += part.length;
    if (length > limitBytes) settle(() => reject(tooLarge(limitBytes)));
    else parts.push(part);
  };
  const onEnd = () => settle(() => resolve(Buffer.concat(parts)));
  const onLost = () =>
    settle(() => reject(new ApiError('aborted', 'The client left while it sent the body.')));
  const settle = (finish: () => void) => {
    request.off('data', onData).off('end', onEnd).off('close', onLost).off('error', onLost);
    finish();
  };
  request.on('data', onData).once('end', onEnd).once('close', onLost).once('error', onLost);
  return promise;
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('body_too_large', `The body is larger than ${limitBytes} bytes.`);
}
