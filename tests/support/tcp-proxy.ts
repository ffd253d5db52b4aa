// A proxy of TCP connections that a test can cut, as the restart of a database does.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections, and refuses new ones until `restore`. */
  cut(): void;
  /** Passes nothing on until `restore`, as a database that hangs; connections stay open. */
  freeze(): void;
  /** Passes nothing on any more over the connections that are open, as if their machine were gone; new ones are well. */
  abandon(): void;
  restore(): void;
  /**
   * Ends the next connection that sends this text. `before`: the text does not arrive. `after`: it arrives, and the reply is lost.
   */
  cutOnceAt(text: string, when: 'before' | 'after'): void;
  /** Connections that `cutOnceAt` has ended. */
  readonly trappedCount: number;
  close(): Promise<void>;
}

/** Starts a proxy on a free port of this machine. */
export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const abandoned = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  let trap: { readonly text: string; readonly when: 'before' | 'after' } | undefined;
  let trappedCount = 0;
  const server = createServer(near => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(port, host);
    // Before the pipe below writes the part.
    near.on('data', (part: Buffer) => {
      if (trap === undefined || !part.includes(trap.text)) return;
      const { when } = trap;
      trap = undefined;
      trappedCount++;
      if (when === 'before') far.destroy();
      else
        far
          .unpipe(near)
          .once('data', () => near.destroy())
          .resume();
    });
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
    abandon() {
      for (const socket of open) abandoned.add(socket.unpipe().pause());
      open.clear();
    },
    restore() {
      isCut = false;
      isFrozen = false;
      for (const socket of open) socket.resume();
    },
    cutOnceAt(text, when) {
      trap = { text, when };
    },
    get trappedCount() {
      return trappedCount;
    },
    async close() {
      cut();
      for (const socket of abandoned) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
