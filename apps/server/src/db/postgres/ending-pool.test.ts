import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createEndingPool } from './ending-pool.ts';

/** `AuthenticationOk` and `ReadyForQuery`. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

it('ends while the server hangs, also with a statement that is not answered', async () => {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => socket.write(WELCOME)).resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = createEndingPool({ host: '127.0.0.1', port, user: 'u', database: 'd', password: 'p' });
  pool.on('error', () => undefined);
  const idle = await pool.connect();
  const busy = await pool.connect();
  busy.on('error', () => undefined);
  idle.release();
  const answer = busy.query('select 1').finally(() => busy.release(true));
  await Promise.all([pool.end(), expect(answer).rejects.toThrow()]);
  for (const socket of sockets) socket.destroy();
  server.close();
}, 15_000);
