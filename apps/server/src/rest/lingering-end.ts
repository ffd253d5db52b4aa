// Ends a reply whose request is still being sent. A connection that closes with unread bytes is reset, and a reset can
// overtake the reply: the client then sees a broken pipe instead of why it was refused. Caller: `dispatcher.ts`.

import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a client may go on sending what nobody reads. Unit: milliseconds. */
export const LINGER_MS = 2_000;

/** Ends the reply when the request has been read to its end, unkept; at the latest after `LINGER_MS`. */
export function endAfterRequest(request: IncomingMessage, response: ServerResponse): void {
  const end = () => {
    clearTimeout(patience);
    request.off('end', end).off('close', end);
    response.end();
  };
  const patience = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end);
  request.resume();
}
