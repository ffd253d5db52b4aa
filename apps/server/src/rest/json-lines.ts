// JSON lines: an async iterable of lines becomes the body as it comes. A failure after the first byte cuts the
// connection, so that a reader cannot take the part for the whole.

import type { ServerResponse } from 'node:http';
import { toPublicError } from '@ortler/api';
import type { EventStreamOptions } from './sse.ts';
import { isGone, untilWritable } from './writable.ts';

/** Writes all lines. A slow reader holds the source back; a reader that leaves ends it. */
export async function writeJsonLines(
  response: ServerResponse,
  lines: AsyncIterable<string>,
  { headers, requestId, onError }: EventStreamOptions,
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
