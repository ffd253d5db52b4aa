// A connection pool that can always be ended: the driver waits until the server has closed each connection, which one that hangs
// never does.

import { Socket } from 'node:net';
import pg from 'pg';

/** Longest time that the server may take to close its connections. Unit: milliseconds. */
const END_MS = 2_000;

/** Its `end` cuts the connections that are left after two seconds. */
export function createEndingPool(config: pg.PoolConfig): pg.Pool {
  const sockets = new Set<Socket>();
  const openSocket = () => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const pool = new pg.Pool({ ...config, stream: openSocket });
  const end = pool.end.bind(pool) as () => Promise<void>;
  const endSoon = async () => {
    const limit = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, END_MS);
    await end().finally(() => clearTimeout(limit));
  };
  return Object.assign(pool, { end: endSoon });
}
