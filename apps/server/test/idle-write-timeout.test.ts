// The idle write timeout, with clients that read slowly or not at all, over real sockets. Timeouts are short; a stopped reader
// is detected after one to two of them.

import { connect, type Socket } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { createFakeEngine, createFakeServices, type FakeEngine } from '@ortler/api/testing';
import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { AUTHORIZATION, CHAT_PATH, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

interface Request {
  readonly path: string;
  readonly body: unknown;
  readonly headers?: string;
}

const EVENTS: Request = { path: CHAT_PATH, body: { messages: MESSAGES, stream: true } };
const BODY: Request = { path: CHAT_PATH, body: { messages: MESSAGES } };
const TRPC_BODY: Request = { path: '/trpc/chat.complete', body: { messages: MESSAGES } };
const TRPC_STREAM: Request = {
  path: '/trpc/chat.stream?batch=1',
  body: { 0: { messages: MESSAGES } },
  headers: 'Trpc-Accept: application/jsonl\r\n',
};

/** Together several times the size of the kernel's socket buffers. */
const PIECES = Array.from({ length: 400 }, () => 'x'.repeat(64 * 1024));
const ANSWER_BYTES = PIECES.length * PIECES[0]!.length;
/** A slow reader pauses after this many bytes. The kernel reports progress in steps of 1.4 MB. */
const SLOW_PART_BYTES = 1024 * 1024;
const SLOW_REST_MS = 100;
/**
 * The slow reader needs more than twice this time for its answer, so it would be detected if it counted as stopped. Several
 * pauses fit in, because the machine may be slow too.
 */
const SLOW_READER_LIMIT_MS = 1_000;

vi.setConfig({ testTimeout: 20_000 });
const PATIENCE = { timeout: 15_000 };

let test: TestApp;
const lines: { readonly requestId?: string }[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await test.app.close();
});

async function open(engine: FakeEngine, stalledReaderMs: number): Promise<string> {
  lines.length = 0;
  const logger = pino({ level: 'warn' }, { write: line => lines.push(JSON.parse(line)) });
  test = await openTestApp(createFakeServices({ demo: engine }), undefined, { stalledReaderMs, logger });
  return test.listen();
}

/** Sends a request on a new connection, which is paused. */
function ask(url: string, { path, body, headers = '' }: Request, requestId = 'mine'): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  sockets.push(socket.on('error', () => undefined));
  const text = JSON.stringify(body);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: ${AUTHORIZATION}\r\n${headers}` +
      `X-Request-Id: ${requestId}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
}

/** Reads to the end and returns the number of bytes. */
async function read(socket: Socket, restMs = 0): Promise<number> {
  let length = 0;
  let restAt = SLOW_PART_BYTES;
  for await (const part of socket) {
    length += (part as Buffer).length;
    if (restMs === 0 || length < restAt) continue;
    restAt = length + SLOW_PART_BYTES;
    await rest(restMs);
  }
  return length;
}

function countConnections(): Promise<number> {
  return new Promise(resolve => test.app.server.getConnections((_error, count) => resolve(count)));
}

it.each([
  ['server-sent events', EVENTS],
  ['a whole body', BODY],
  ['a stream of tRPC', TRPC_STREAM],
  ['a whole body of tRPC', TRPC_BODY],
])(
  'closes the connection of a client that stopped reading %s, and logs the request id',
  async (_kind, request) => {
    ask(await open(createFakeEngine({ pieces: PIECES }), 100), request, 'unread');
    await vi.waitFor(() => expect(lines).toMatchObject([{ requestId: 'unread' }]), PATIENCE);
    await vi.waitFor(async () => expect(await countConnections()).toBe(0), PATIENCE);
  },
);

it.each([
  ['server-sent events', EVENTS],
  ['a stream of tRPC', TRPC_STREAM],
])(
  'aborts %s of a client that stopped reading like that of one that disconnected',
  async (_kind, request) => {
    const engine = createFakeEngine({ pieces: PIECES });
    ask(await open(engine, 100), request);
    await vi.waitFor(() => expect(engine.abortedCount).toBe(1), PATIENCE);
    expect(test.services.reports).toMatchObject([{ outcome: 'aborted' }]);
  },
);

it('leaves the streams of others alone', async () => {
  const engine = createFakeEngine({ pieces: PIECES });
  const url = await open(engine, SLOW_READER_LIMIT_MS);
  let endedCount = 0;
  const others = [EVENTS, TRPC_STREAM].map(async request => {
    const length = await read(ask(url, request), 1.5 * SLOW_REST_MS);
    endedCount++;
    return length;
  });
  ask(url, EVENTS, 'unread');
  await vi.waitFor(() => expect(engine.abortedCount).toBe(1), PATIENCE);
  expect(endedCount).toBe(0);
  for (const length of await Promise.all(others)) expect(length).toBeGreaterThan(ANSWER_BYTES);
  expect(lines).toMatchObject([{ requestId: 'unread' }]);
});

it.each([
  ['server-sent events', EVENTS],
  ['a whole body', BODY],
])('lets a slow reader have %s, however long that takes', async (_kind, request) => {
  const url = await open(createFakeEngine({ pieces: PIECES }), SLOW_READER_LIMIT_MS);
  const startedAtMs = performance.now();
  expect(await read(ask(url, request), SLOW_REST_MS)).toBeGreaterThan(ANSWER_BYTES);
  expect(performance.now() - startedAtMs).toBeGreaterThan(2 * SLOW_READER_LIMIT_MS);
  expect(lines).toEqual([]);
});

it.each([
  ['server-sent events', EVENTS],
  ['a whole body', BODY],
  ['a stream of tRPC', TRPC_STREAM],
])('lets %s wait for tokens', async (_kind, request) => {
  const engine = createFakeEngine({ beforeToken: () => rest(60) });
  await read(ask(await open(engine, 20), request));
  expect(test.services.reports).toMatchObject([{ outcome: 'finished' }]);
  expect(lines).toEqual([]);
});

it('ends a stream that stalls after a long wait for its first token', async () => {
  const engine = createFakeEngine({
    pieces: PIECES,
    beforeToken: number => rest(number === 0 ? 300 : 0),
  });
  ask(await open(engine, 100), EVENTS);
  await vi.waitFor(() => expect(engine.abortedCount).toBe(1), PATIENCE);
});

it('waits without limit when the timeout is 0', async () => {
  const socket = ask(await open(createFakeEngine({ pieces: PIECES }), 0), EVENTS);
  await rest(300);
  expect(await read(socket)).toBeGreaterThan(ANSWER_BYTES);
});
