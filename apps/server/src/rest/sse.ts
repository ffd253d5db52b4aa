// Server-sent events (SSE): an async iterable becomes frames. Chunks of completions are `data:` lines ended by `[DONE]`,
// without comments and event names, because clients of that wire format expect none. Events of responses name their type
// in an `event:` line and end with the last of them.

import type { ServerResponse } from 'node:http';
import { type PublicError, toPublicError } from '@ortler/api';
import { isGone, untilWritable } from './backpressure.ts';
import { toErrorBody } from './error-body.ts';
import { type ReplyHeaders, toJsonText } from './json-reply.ts';

export interface StreamOptions {
  readonly headers: ReplyHeaders;
  readonly requestId: string;
  /** Frames with the event's `type` as its name, without `[DONE]`. */
  readonly hasNamedEvents: boolean;
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
  { headers, requestId, hasNamedEvents, onError }: StreamOptions,
): Promise<void> {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  sendHeaders(response);
  const toFrame = hasNamedEvents ? toNamedFrame : toDataFrame;
  let count = 0;
  try {
    for await (const chunk of chunks) {
      if (isGone(response)) return;
      count++;
      if (!response.write(toFrame(chunk))) await untilWritable(response);
    }
  } catch (error) {
    if (isGone(response)) return;
    const known = toPublicError(error, requestId);
    onError(error, known);
    response.write(toFrame(hasNamedEvents ? toErrorEvent(known, count) : toErrorBody(known, 'openai')));
  }
  if (!isGone(response)) response.end(hasNamedEvents ? undefined : 'data: [DONE]\n\n');
}

/** Sends the headers now, but in one write with the first frame where that is at hand: the pending microtasks write it before the tick. */
function sendHeaders(response: ServerResponse): void {
  const { socket } = response;
  socket?.cork();
  response.flushHeaders();
  process.nextTick(() => socket?.uncork());
}

function toDataFrame(value: unknown): string {
  return `data: ${toJsonText(value)}\n\n`;
}

function toNamedFrame(value: unknown): string {
  return `event: ${(value as { readonly type: string }).type}\n${toDataFrame(value)}`;
}

/** The `error` event of responses. */
function toErrorEvent({ reason, message, param }: PublicError, sequenceNumber: number): unknown {
  return { type: 'error', code: reason, message, param, sequence_number: sequenceNumber };
}
