import { request as httpRequest } from 'node:http';
import { createFakeEngine, createFakeServices, type FakeEngine } from '@ortler/api/testing';
import { EngineError } from '@ortler/engine';
import { afterEach, expect, it, vi } from 'vitest';
import {
  AUTHORIZATION,
  CHAT_PATH,
  MESSAGES,
  openTestApp,
  readChunks,
  readEvents,
  type TestApp,
} from './open-test-app.ts';

/** Long enough for a busy machine; a wait ends as soon as its condition holds. */
const PATIENCE = { timeout: 20_000 };

let test: TestApp;
afterEach(() => test.app.close());

async function openWith(engine: FakeEngine): Promise<void> {
  test = await openTestApp(createFakeServices({ demo: engine }));
}

const ESCAPED = ['Grüße 👋🏽', '\n\ndata: x', '\u2028'];

it('writes data lines only, ends with [DONE], and joins to the plain body', async () => {
  await openWith(createFakeEngine({ pieces: ESCAPED }));
  const request = { messages: MESSAGES, return_token_ids: true };
  const plain = (await test.post(request)).json();
  const reply = await test.post({ ...request, stream: true, stream_options: { include_usage: true } });
  expect(reply.statusCode).toBe(200);
  expect(reply.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  const chunks = readChunks(reply.body);
  const [first] = chunks;
  const deltas = chunks.flatMap(chunk => chunk.choices.map(({ delta }) => delta));
  const ids = chunks.flatMap(chunk => chunk.choices.flatMap(choice => choice.token_ids ?? []));
  expect(deltas[0]).toEqual({ role: 'assistant', content: '' });
  expect(deltas.map(({ content }) => content).join('')).toBe(plain.choices[0].message.content);
  expect(ids).toEqual(plain.choices[0].token_ids);
  expect(first?.prompt_token_ids).toEqual(plain.prompt_token_ids);
  expect(chunks.at(-1)?.usage).toEqual(plain.usage);
  for (const chunk of chunks)
    expect(chunk).toMatchObject({
      id: first?.id,
      created: first?.created,
      model: 'demo',
      object: first?.object,
    });
});

it('ends a broken stream with an error event and [DONE]', async () => {
  const error = new EngineError('engine_failed', 'secret');
  await openWith(createFakeEngine({ failAt: { tokenNumber: 1, error } }));
  const reply = await test.post({
    messages: MESSAGES,
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(reply.statusCode).toBe(200);
  const events = readEvents(reply.body);
  expect(events).toHaveLength(3);
  expect(events.at(-1)).toEqual({
    error: {
      message: expect.stringContaining(String(reply.headers['x-request-id'])),
      type: 'InternalServerError',
      param: null,
      code: 500,
    },
  });
});

it('aborts the generation when the client disconnects', async () => {
  const hold = Promise.withResolvers<void>();
  const engine = createFakeEngine({
    beforeToken: number => (number === 2 ? hold.promise : Promise.resolve()),
  });
  await openWith(engine);
  const url = await test.listen();
  const leave = new AbortController();
  const reply = await fetch(url + CHAT_PATH, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: MESSAGES, stream: true }),
    signal: leave.signal,
  });
  const reader = reply.body!.getReader();
  await reader.read();
  expect(engine.abortedCount).toBe(0);
  leave.abort();
  await vi.waitFor(() => expect(engine.abortedCount).toBe(1), PATIENCE);
  expect(test.services.reports).toMatchObject([{ outcome: 'aborted' }]);
});

it('aborts a request without streaming when the client disconnects', async () => {
  const hold = Promise.withResolvers<void>();
  const engine = createFakeEngine({ beforeToken: () => hold.promise });
  await openWith(engine);
  const url = await test.listen();
  const leave = new AbortController();
  const reply = fetch(url + CHAT_PATH, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: MESSAGES }),
    signal: leave.signal,
  });
  await vi.waitFor(() => expect(engine.requests).toHaveLength(1), PATIENCE);
  leave.abort();
  await expect(reply).rejects.toThrow();
  await vi.waitFor(() => expect(engine.abortedCount).toBe(1), PATIENCE);
});

it('applies backpressure to the engine while the reader is slow, and loses nothing', async () => {
  const text = 'x'.repeat(64 * 1024);
  let produced = 0;
  const engine = createFakeEngine({
    pieces: Array.from({ length: 400 }, () => text),
    beforeToken: async number => {
      produced = number;
    },
  });
  await openWith(engine);
  const url = await test.listen();
  const reply = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json' };
    httpRequest(url + CHAT_PATH, { method: 'POST', headers }, resolve)
      .on('error', reject)
      .end(JSON.stringify({ messages: MESSAGES, stream: true }));
  });
  // The client does not read: the 25 MB answer does not fit into the kernel's buffers.
  await new Promise(resolve => setTimeout(resolve, 150));
  expect(produced).toBeLessThan(399);
  let length = 0;
  for await (const part of reply) length += (part as Buffer).length;
  expect(length).toBeGreaterThan(400 * text.length);
});

it('ends open streams with an error event when the server stops', async () => {
  const stopForever = () => {
    setImmediate(() => test.stopping.abort());
    return new Promise<void>(() => {});
  };
  await openWith(createFakeEngine({ beforeToken: stopForever }));
  const reply = await test.post({ messages: MESSAGES, stream: true });
  expect(readEvents(reply.body).at(-1)).toHaveProperty('error');
});
