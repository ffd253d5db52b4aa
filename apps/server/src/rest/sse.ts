// Server-sent events (SSE): an async iterable of chunks becomes `data:` frames, ended by `[DONE]`. No comments and no
// event names are sent, because clients of this wire format expect none.

import type { ServerResponse } from 'node:http';
import { type PublicError, toPublicError } from '@ortler/api';
import { isGone, untilWritable } from './backpressure.ts';
import { toErrorBody } from './error-body.ts';
import type { ReplyHeaders } from './json-reply.ts';

export interface StreamOptions {
  readonly headers: ReplyHeaders;
  readonly requestId: string;
  /** Reports a failure after the first byte, when the status line has been sent. */
  readonly onError: (error: unknown, known: PublicError) => void;
}

/**
 * Writes all chunks with backpressure: a slow reader pauses the source, a client that disconnects ends it.
 * A failure of the source becomes an error event, because the status line has been sent.
 */
export async function writeEventStream(
  response: ServerResponse,
  chunks: AsyncIterable<unknown>,
  { headers, requestId, onError }: StreamOptions,
): Promise<void> {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  try {
    for await (const chunk of chunks) {
      if (isGone(response)) return;
      if (!response.write(toFrame(chunk))) await untilWritable(response);
    }
  } catch (error) {
    if (isGone(response)) return;
    const known = toPublicError(error, requestId);
    onError(error, known);
    response.write(toFrame(toErrorBody(known, 'openai')));
  }
  if (!isGone(response)) response.end('data: [DONE]\n\n');
}

function toFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
