// JSON lines (NDJSON): streams an async iterable of lines as the body. A failure after the first byte aborts the
// connection, so that a reader cannot mistake the part for the whole.

import type { ServerResponse } from 'node:http';
import { toPublicError } from '@ortler/api';
import { isGone, untilWritable } from './backpressure.ts';
import type { StreamOptions } from './sse.ts';

/** Writes all lines with backpressure: a slow reader pauses the source, a client that disconnects ends it. */
export async function writeJsonLines(
  response: ServerResponse,
  lines: AsyncIterable<string>,
  { headers, requestId, onError }: Omit<StreamOptions, 'hasNamedEvents'>,
): Promise<void> {
  response.writeHead(200, { ...headers, 'content-type': 'application/x-ndjson; charset=utf-8' });
  response.flushHeaders();
  try {
    for await (const line of lines) {
      if (isGone(response)) return;
      if (!response.write(line)) await untilWritable(response);
    }
  } catch (error) {
    onError(error, toPublicError(error, requestId));
    response.destroy();
    return;
  }
  if (!isGone(response)) response.end();
}
