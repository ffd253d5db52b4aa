// Backpressure of a streamed reply: a slow reader pauses the source. Callers: `sse.ts`, `json-lines.ts`.

import type { ServerResponse } from 'node:http';

/** Whether the reply has ended or its client has disconnected. */
export function isGone(response: ServerResponse): boolean {
  return response.destroyed || response.writableEnded;
}

/** Waits for a slow reader. `drain` never fires on a closed connection, so either event ends the wait. */
export function untilWritable(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settle = () => {
    response.off('drain', settle).off('close', settle);
    resolve();
  };
  response.once('drain', settle).once('close', settle);
  if (isGone(response)) settle();
  return promise;
}
