// Graceful shutdown of an HTTP server: open requests may end within a time, then they are aborted, and last the connections of
// clients that do not read are cut.

import type { Server } from 'node:http';
import type { IdleConnections } from './idle-connections.ts';

/** Time between aborting open requests and cutting connections. */
const CUT_CONNECTIONS_MS = 1_000;
const CLOSE_IDLE_INTERVAL_MS = 50;

export interface DrainOptions {
  readonly idleConnections: IdleConnections;
  /** Time for open requests. Unit: milliseconds. */
  readonly drainMs: number;
  /** Aborts open requests. */
  readonly abort: () => void;
}

/** Starts to drain the connections of a server that takes no new ones. To be disposed once it is closed. */
export function drainConnections(
  server: Server,
  { idleConnections, drainMs, abort }: DrainOptions,
): Disposable {
  const timers = [
    setTimeout(abort, drainMs),
    setTimeout(() => server.closeAllConnections(), drainMs + CUT_CONNECTIONS_MS),
  ];
  // Idle keep-alive connections would delay the close until their clients disconnect.
  idleConnections.close();
  const closeIdle = setInterval(() => idleConnections.close(), CLOSE_IDLE_INTERVAL_MS);
  return {
    [Symbol.dispose]() {
      for (const timer of timers) clearTimeout(timer);
      clearInterval(closeIdle);
    },
  };
}
