// Answers requests that are not valid HTTP (broken syntax, headers past the limit) in the usual error shape. Node
// rejects them before there is a request object, so the reply is written to the raw socket.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { toErrorBody } from './error-body.ts';

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'The request is not valid HTTP.',
  408: 'The request took too long to arrive.',
  431: 'The headers of the request are too large.',
};

/** Writes the reply and ends the connection, on which no further request can be parsed. */
export function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
  const reason = STATUS_CODES[status]!;
  const body = { reason: 'malformed_request', status, message: MESSAGES[status]!, type: reason } as const;
  const text = JSON.stringify(toErrorBody({ ...body, param: null, retryAfterMs: undefined }, 'openai'));
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
