import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type IdleConnections, trackIdleConnections } from './idle-connections.ts';

let server: Server;
let connections: IdleConnections;
beforeEach(async () => {
  server = createServer();
  connections = trackIdleConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function open(bytes: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const seen = once(server, 'connection');
  await once(socket, 'connect');
  await seen;
  socket.resume().write(bytes);
  return socket;
}

/** Resolves when the connection is closed, which is an error on the client's side if it has unread bytes. */
function closed(socket: Socket): Promise<void> {
  return new Promise(resolve => socket.on('error', () => undefined).once('close', () => resolve()));
}

it.each([
  ['sent nothing', ''],
  ['sent half a request', 'GET / HTTP/1.1\r\n'],
])('closes a connection that %s', async (_case, bytes) => {
  const socket = await open(bytes);
  const gone = closed(socket);
  connections.close();
  await gone;
});

it('closes a connection that never sends a byte, and only that', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  trackIdleConnections(other, 20);
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const [silent, slow] = [connect(port, '127.0.0.1').resume(), connect(port, '127.0.0.1').resume()];
  slow.write('GET / HTTP/1.1\r\n');
  await closed(silent);
  await new Promise(resolve => setTimeout(resolve, 40));
  expect(slow.closed).toBe(false);
  const gone = closed(slow);
  other.closeAllConnections();
  other.close();
  await gone;
});

it('closes a connection after its answer, not before', async () => {
  const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  const socket = await open('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [, response] = await asked;
  connections.close();
  const parts: Buffer[] = [];
  socket.on('data', part => parts.push(part));
  response.end('answer');
  await once(response, 'close');
  const gone = closed(socket);
  connections.close();
  await gone;
  expect(Buffer.concat(parts).toString()).toContain('answer');
});
