// Ends the connection of a client that has stopped reading: what its request holds would else be held until the client
// goes. A slow reader is no such client, and neither is one that has nothing to read. Caller: `app.ts`, for every request.
//
// Node watches the socket. A write, bytes from the client, and any part of a blocked write that the system takes start the
// time anew, also where one write is a whole body; `writableLength` and `bytesWritten` show no parts. Node looks once in each
// `timeoutMs`, so a stall is found between `timeoutMs` and twice that.
//
// A blocked write goes on when about a third of the system's buffer is free, so a reader is seen to move in steps of that:
// 1.4 MB between two processes of one machine, measured on Linux 6.18. A reader that takes less than a step in `timeoutMs`
// cannot be told from one that has stopped. Source: `sk_stream_min_wspace` of Linux.

import type { ServerResponse } from 'node:http';

export interface StalledReaderOptions {
  /** How long nothing of the waiting data may be taken. 0: for ever. Unit: milliseconds. */
  readonly timeoutMs: number;
  /** Called before the connection ends, at most once. */
  readonly onStalled: () => void;
}

/** Watches the connection of one reply until that reply is done. Its end looks to everybody as if the client had left. */
export function endStalledReader(
  response: ServerResponse,
  { timeoutMs, onStalled }: StalledReaderOptions,
): void {
  if (timeoutMs === 0) return;
  response.setTimeout(timeoutMs, () => {
    const { socket } = response;
    // Without data that waits, the reply itself is not ready: a queue, a long prompt. The next write starts the time again.
    if (socket === null || socket.writableLength === 0) return;
    onStalled();
    socket.destroy();
  });
}
