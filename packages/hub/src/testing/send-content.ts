// Sends the content of a file, whole or a range of it, with the fault that a test asks for.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The connection is cut after this many bytes of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The body ends early, with a Content-Length that fits. */
  | { readonly kind: 'truncate'; readonly afterBytes: number }
  /** Nothing more is sent after this many bytes. */
  | { readonly kind: 'silence'; readonly afterBytes: number }
  /** One byte is changed. */
  | { readonly kind: 'wrong-byte' }
  /** 200 with the whole file for every range. */
  | { readonly kind: 'ignore-ranges' }
  /** Pieces with pauses between them. */
  | { readonly kind: 'slow'; readonly pieceBytes: number; readonly pauseMs: number }
  /** The body is sent once this resolves. */
  | { readonly kind: 'held'; readonly until: Promise<unknown> };

export function sendContent(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  headers: Readonly<Record<string, string>>,
  fault: Fault | undefined,
): void {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const isRange = first !== undefined && fault?.kind !== 'ignore-ranges';
  const start = isRange ? Number(first) : 0;
  const end = isRange && last !== '' ? Math.min(content.length, Number(last) + 1) : content.length;
  if (isRange && start >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  let body = content.subarray(start, end);
  if (fault?.kind === 'truncate') body = body.subarray(0, fault.afterBytes);
  if (fault?.kind === 'wrong-byte') {
    body = Buffer.from(body);
    body[body.length >> 1]! ^= 1;
  }
  response.writeHead(isRange ? 206 : 200, {
    ...headers,
    'content-length': String(body.length),
    ...(isRange ? { 'content-range': `bytes ${start}-${end - 1}/${content.length}` } : {}),
  });
  if (request.method === 'HEAD') response.end();
  else void sendBody(response, body, fault);
}

async function sendBody(response: ServerResponse, body: Buffer, fault: Fault | undefined): Promise<void> {
  switch (fault?.kind) {
    case 'cut':
      response.write(body.subarray(0, fault.afterBytes), () => response.destroy());
      return;
    case 'silence':
      response.write(body.subarray(0, fault.afterBytes));
      return;
    case 'slow':
      for (let offset = 0; offset < body.length && !response.destroyed; offset += fault.pieceBytes) {
        response.write(body.subarray(offset, offset + fault.pieceBytes));
        await pause(fault.pauseMs);
      }
      response.end();
      return;
    case 'held':
      await fault.until;
      response.end(body);
      return;
    default:
      response.end(body);
  }
}
