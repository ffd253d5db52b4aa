// Writing a reply as it comes, at the pace of its reader.

import type { ServerResponse } from 'node:http';

/** Whether nobody reads the reply any more. */
export function isGone(response: ServerResponse): boolean {
  return response.destroyed || response.writableEnded;
}

/** Waits for a slow reader. `drain` never comes on a closed connection, so either event ends the wait. */
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
