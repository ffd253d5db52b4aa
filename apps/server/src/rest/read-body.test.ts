import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { streamBody } from './read-body.ts';

const LIMIT_BYTES = 1_000_000;

let server: Server;
let client: Socket;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
});
afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

async function send(body: Buffer, contentLength = body.length) {
  client.write(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${contentLength}\r\n\r\n`,
  );
  client.write(body);
  const [request, response] = await once(server, 'request');
  return { request: request as IncomingMessage, response };
}

it('gives all bytes of a body that is larger than what is received ahead, in order', async () => {
  const body = Buffer.from(Array.from({ length: 5_000_000 }, (_, index) => index % 251));
  const { request } = await send(body);
  const parts: Uint8Array[] = [];
  for await (const part of streamBody(request, body.length)) parts.push(part);
  expect(Buffer.concat(parts).equals(body)).toBe(true);
});

it('notices that a client has left behind bytes that nobody has read', async () => {
  const { request } = await send(Buffer.alloc(500_000), 600_000);
  const body = streamBody(request, LIMIT_BYTES);
  await body.next();
  const closed = new Promise(resolve => request.once('close', resolve));
  client.destroy();
  await closed;
  await expect(body.next()).rejects.toMatchObject({ reason: 'aborted' });
});

it('notices that a client has left behind a whole body that nobody has read', async () => {
  const { request, response } = await send(Buffer.alloc(500_000));
  const body = streamBody(request, LIMIT_BYTES);
  await body.next();
  const closed = once(response, 'close');
  client.destroy();
  await closed;
});

it('keeps the connection for the reply where a body ends past the limit', async () => {
  client.write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  client.write(`${(2 * LIMIT_BYTES).toString(16)}\r\n`);
  client.write(Buffer.alloc(2 * LIMIT_BYTES));
  const [request, response] = await once(server, 'request');
  const read = async () => {
    for await (const _ of streamBody(request, LIMIT_BYTES));
  };
  await expect(read()).rejects.toMatchObject({ reason: 'body_too_large' });
  response.writeHead(413).end('too large');
  const [reply] = await once(client, 'data');
  expect(String(reply)).toContain('413');
});
