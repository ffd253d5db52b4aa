import { createFakeEngine, createFakeServices, type FakeEngineScript } from '@ortler/api/testing';
import { EngineError } from '@ortler/engine';
import { afterEach, expect, it } from 'vitest';
import { AUTHORIZATION, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
afterEach(() => test.app.close());

async function openWith(script: FakeEngineScript): Promise<void> {
  test = await openTestApp(createFakeServices({ demo: createFakeEngine(script) }));
}

const post = (body: object, url = '/v1/responses') =>
  test.app.inject({ method: 'POST', url, headers: { authorization: AUTHORIZATION }, payload: body });

/** Name and data of each event. */
function readNamedEvents(
  body: string,
): { readonly name: string; readonly data: { readonly type: string } }[] {
  const frames = body.split('\n\n');
  expect(frames.pop()).toBe('');
  return frames.map(frame => {
    const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(frame)!;
    return { name: name!, data: JSON.parse(data!) };
  });
}

it('names each event by its type and ends with the last one', async () => {
  await openWith({ pieces: ['a', 'b'] });
  const reply = await post({ input: 'hi', stream: true });
  expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  const events = readNamedEvents(reply.body);
  for (const { name, data } of events) expect(name).toBe(data.type);
  expect(events.at(-1)?.name).toBe('response.completed');
});

it('ends a broken stream with a failed response and an error event', async () => {
  await openWith({ failAt: { tokenNumber: 1, error: new EngineError('engine_failed', 'secret') } });
  const reply = await post({ input: 'hi', stream: true });
  const events = readNamedEvents(reply.body);
  expect(events.slice(-2)).toMatchObject([
    { name: 'response.failed', data: { response: { status: 'failed' } } },
    { name: 'error', data: { code: 'internal', param: null, sequence_number: events.length - 1 } },
  ]);
  expect(reply.body).not.toContain('secret');
});

it('refuses before the stream begins', async () => {
  await openWith({});
  const reply = await post({ input: 'hi', stream: true, temperature: 3 });
  expect(reply.statusCode).toBe(400);
  expect(reply.json()).toMatchObject({ error: { param: 'temperature', code: 400 } });
});

it.each([['POST', '/v1/embeddings', 'embedding model']] as const)(
  'says of %s %s what to use',
  async (method, url, advice) => {
    await openWith({});
    const reply = await test.app.inject({ method, url, headers: { authorization: AUTHORIZATION } });
    expect(reply.statusCode).toBe(404);
    expect(reply.json().error.message).toContain(advice);
  },
);

it('takes a cancellation without a body, as clients send it', async () => {
  await openWith({});
  const reply = await test.app.inject({
    method: 'POST',
    url: '/v1/responses/resp_1/cancel',
    headers: { authorization: AUTHORIZATION },
  });
  expect(reply.statusCode).toBe(404);
});
