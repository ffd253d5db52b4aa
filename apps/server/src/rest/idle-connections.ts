// Which connections of an HTTP server wait for an answer, and how the others are closed when the server stops. Node's own
// `closeIdleConnections` and its timeouts spare connections that never sent a byte, and browsers open such ahead of need.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface IdleConnections {
  /** Ends every connection that no request is open on. */
  close(): void;
}

/** As long as a connection may be idle between two requests. Unit: milliseconds. */
const SILENT_MS = 72_000;

/** Watches a server from before it listens, and ends connections that have sent nothing after `silentMs`. */
export function trackIdleConnections(server: Server, silentMs = SILENT_MS): IdleConnections {
  /** Every open connection, with the number of its unanswered requests. */
  const openRequestCounts = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    openRequestCounts.set(socket, 0);
    const silence = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, silentMs).unref();
    socket.once('close', () => {
      clearTimeout(silence);
      openRequestCounts.delete(socket);
    });
  });
  const add = (socket: Socket, change: 1 | -1) => {
    const count = openRequestCounts.get(socket);
    if (count !== undefined) openRequestCounts.set(socket, count + change);
  };
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    add(socket, 1);
    response.once('close', () => add(socket, -1));
  });
  return {
    close() {
      for (const [socket, count] of openRequestCounts) if (count === 0) socket.destroy();
    },
  };
}
