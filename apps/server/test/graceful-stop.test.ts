// What a router and a scraper see of a server between its stop signal and its end.

import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Step, startFaultyServer, steps } from '@ortler/upstream/testing';
import { afterEach, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/main.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server with one model, which is elsewhere: `answer` gets what is asked of it. */
async function open(answer: Step, settings: Record<string, string> = {}): Promise<RunningServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-stop-'));
  closing.push(() => rm(folder, { recursive: true }));
  const elsewhere = await startFaultyServer(steps.listing([{ id: 'm' }], answer));
  closing.push(() => elsewhere.close());
  const server = await startServer(
    readConfig({
      ORTLER_DATA_DIR: folder,
      ORTLER_PORT: '0',
      ORTLER_METRICS_PORT: '0',
      ORTLER_API_KEY: 'key',
      ORTLER_LOG_LEVEL: 'silent',
      ORTLER_MODELS: `m=${elsewhere.url}`,
      ...settings,
    }),
  );
  closing.push(() => server.stop());
  await server.loaded;
  return server;
}

const BODY = JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] });
const REPLY = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }],
};

/** Opens a server whose model answers when it is told to. */
async function openHeld() {
  const asked = Promise.withResolvers<() => void>();
  const server = await open((response, request) => asked.resolve(() => steps.json(REPLY)(response, request)));
  return { server, release: asked.promise };
}

const untilRefused = ({ url }: RunningServer) =>
  expect.poll(() => fetch(`${url}/health/live`).catch(() => 'refused')).toBe('refused');

const ask = ({ url }: RunningServer) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: BODY,
  });

/** Over a connection that is kept, if the server lets it. */
function getKept(agent: Agent, url: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { agent }, reply => resolve(reply.resume())).on('error', reject);
  return promise;
}

it('before it drains, every reply ends its connection, and health says that the server leaves', async () => {
  const server = await open(steps.json({}), { ORTLER_DRAIN_DELAY_MS: '1000' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closing.push(() => agent.destroy());
  const live = `${server.url}/health/live`;
  expect((await getKept(agent, live)).headers.connection).toBe('keep-alive');
  const stopped = server.stop();
  const last = await getKept(agent, live);
  expect([last.statusCode, last.headers.connection]).toEqual([200, 'close']);
  const ready = await fetch(`${server.url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping' }]);
  await stopped;
});

it('metrics on a port of their own are there until the last request has ended', async () => {
  const { server, release } = await openHeld();
  const answer = ask(server);
  const answerNow = await release;
  const stopped = server.stop();
  await untilRefused(server);
  const metrics = await (await fetch(server.metricsUrl!)).text();
  expect(metrics).toContain('ortler:upstream_requests_open{model_name="m",server="0"} 1');
  answerNow();
  expect((await answer).status).toBe(200);
  await stopped;
  await expect(fetch(server.metricsUrl!)).rejects.toThrow();
});

it('a request that comes over an open connection while the server drains is answered, and is its last', async () => {
  const { server, release } = await openHeld();
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  closing.push(() => socket.destroy());
  const headers = `host: ${hostname}\r\nauthorization: Bearer key\r\n`;
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\n${headers}content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
  );
  const answerNow = await release;
  const stopped = server.stop();
  await untilRefused(server);
  socket.write(`GET /v1/models HTTP/1.1\r\n${headers}\r\n`);
  answerNow();
  const replies = await text(socket);
  expect(replies.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  expect(replies.match(/^connection: \S+/gim)?.at(-1)).toMatch(/close/);
  await stopped;
});
