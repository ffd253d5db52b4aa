// A proxy of TCP connections that a test can cut, as the restart of a database does.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections, and refuses new ones until `restore`. */
  cut(): void;
  /** Passes nothing on until `restore`, as a database that hangs; connections stay open. */
  freeze(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port of this machine. */
export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  const server = createServer(near => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(port, host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.pipe(other);
      if (isFrozen) socket.pause();
      socket.on('error', () => undefined);
      socket.once('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    freeze() {
      isFrozen = true;
      for (const socket of open) socket.pause();
    },
    restore() {
      isCut = false;
      isFrozen = false;
      for (const socket of open) socket.resume();
    },
    async close() {
      cut();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
