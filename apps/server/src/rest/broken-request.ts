// Answers requests that Node itself refuses in the usual error shape: what is not valid HTTP (broken syntax, headers past the
// limit), before there is a request object, and expectations other than `100-continue`.

import { randomBytes } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { toErrorBody } from './error-body.ts';
import { discardBody } from './read-body.ts';
import { chooseRequestId } from './request-context.ts';

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'The request is not valid HTTP.',
  408: 'The request took too long to arrive.',
  417: 'The header Expect may only be 100-continue.',
  431: 'The headers of the request are too large.',
};

type BrokenRequest = Error & { readonly code?: string };

/**
 * Returns the handler, which writes the reply and ends the connection: no further request can be parsed on it.
 * @param corsOrigins Where every origin is allowed, browsers may read the reply. A list cannot be compared, because the
 * origin of the request is not known.
 */
export function createBrokenRequestHandler(
  corsOrigins: '*' | readonly string[],
): (error: BrokenRequest, socket: Socket) => void {
  const cors =
    corsOrigins === '*'
      ? ['Access-Control-Allow-Origin: *', 'Access-Control-Expose-Headers: x-request-id']
      : [];
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy(error);
      return;
    }
    const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
    const { reason, text } = toReply(status);
    const head = [
      `HTTP/1.1 ${status} ${reason}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Request-Id: ${randomBytes(16).toString('hex')}`,
      ...cors,
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  };
}

/** Answers with 417. */
export function answerUnmetExpectation(request: IncomingMessage, response: ServerResponse): void {
  const { text } = toReply(417);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': chooseRequestId(request),
  };
  response.writeHead(417, headers).end(text);
  discardBody(request);
}

function toReply(status: number): { readonly reason: string; readonly text: string } {
  const reason = STATUS_CODES[status]!;
  const body = { reason: 'malformed_request', status, message: MESSAGES[status]!, type: reason } as const;
  return {
    reason,
    text: JSON.stringify(toErrorBody({ ...body, param: null, retryAfterMs: undefined }, 'openai')),
  };
}
