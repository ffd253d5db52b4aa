// Idle write timeout: ends the connection of a client that has stopped reading, so that its request frees what it holds.
// A slow reader is not affected, nor is a client whose reply is not ready. Caller: `app.ts`, for every request.
//
// Node's socket timeout restarts on a write, on received bytes, and when the kernel accepts part of a blocked write. The
// kernel accepts more only after about a third of its send buffer is free (1.4 MB over loopback on Linux 6.18), so a
// reader slower than that per `timeoutMs` counts as stopped. Source: `sk_stream_min_wspace` of Linux.

import type { ServerResponse } from 'node:http';

export interface IdleWriteTimeout {
  /** Longest time without progress while data is waiting; noticed after one to two times that. 0: no limit. Unit: milliseconds. */
  readonly timeoutMs: number;
  /** Called before the connection ends, at most once. */
  readonly onTimeout: () => void;
}

/** Watches one reply until it is done. To everything else a timeout looks like a client that disconnected. */
export function setIdleWriteTimeout(
  response: ServerResponse,
  { timeoutMs, onTimeout }: IdleWriteTimeout,
): void {
  if (timeoutMs === 0) return;
  response.setTimeout(timeoutMs, () => {
    const { socket } = response;
    // No data is waiting: the reply is not ready (a queue, a long prompt). The next write restarts the timeout.
    if (socket === null || socket.writableLength === 0) return;
    onTimeout();
    socket.destroy();
  });
}
