// Server-sent events: an async iterable of chunks becomes `data:` lines, ended by `[DONE]`. No comments and no event
// names are sent, as clients of this wire format expect none.

import type { ServerResponse } from 'node:http';
import { type PublicError, toPublicError } from '@ortler/api';
import { toErrorBody } from './error-body.ts';
import { isGone, untilWritable } from './writable.ts';

export interface EventStreamOptions {
  readonly headers: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly requestId: string;
  /** Hears of a failure after the first byte, which clients only see as an event. */
  readonly onError: (error: unknown, known: PublicError) => void;
}

/**
 * Writes all chunks. A slow reader holds the source back; a reader that leaves ends it.
 * Errors of the source become an error event, because the status line is already gone.
 */
export async function writeEventStream(
  response: ServerResponse,
  chunks: AsyncIterable<unknown>,
  { headers, requestId, onError }: EventStreamOptions,
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
