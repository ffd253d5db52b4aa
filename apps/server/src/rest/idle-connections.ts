// Closes idle connections of an HTTP server, at shutdown and after an idle timeout. Node's `closeIdleConnections` and its
// timeouts skip connections that never sent a byte, which browsers open speculatively.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface IdleConnections {
  /** Ends every connection without an open request. */
  close(): void;
}

/** Equal to the keep-alive timeout between two requests. Unit: milliseconds. */
const SILENT_MS = 72_000;

/** Tracks the connections of a server and ends those that have sent nothing after `silentMs`. Call it before listening. */
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
