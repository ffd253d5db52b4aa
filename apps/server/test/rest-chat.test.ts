import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createFakeEngine, createFakeServices } from '@ortler/api/testing';
import { EngineError } from '@ortler/engine';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AUTHORIZATION, CHAT_PATH, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
beforeEach(async () => {
  test = await openTestApp();
});
afterEach(() => test.app.close());

describe('a chat over REST', () => {
  it('is answered with JSON and the request id', async () => {
    const reply = await test.post({ messages: MESSAGES }, { 'x-request-id': 'h' });
    expect(reply.statusCode).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['x-request-id']).toBe('h');
    expect(reply.json()).toMatchObject({
      id: 'chatcmpl-h',
      choices: [{ message: { content: 'Hello world!' } }],
    });
  });

  it('gets a request id when it sends none, or one too long to repeat', async () => {
    for (const headers of [{}, { 'x-request-id': 'x'.repeat(201) }]) {
      const reply = await test.post({ messages: MESSAGES }, headers as Record<string, string>);
      expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
      expect(reply.json().id).toBe(`chatcmpl-${reply.headers['x-request-id']}`);
    }
  });

  it('is served with a trailing slash, without a redirect', async () => {
    const reply = await test.app.inject({
      method: 'POST',
      url: `${CHAT_PATH}/?a=b`,
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      payload: JSON.stringify({ messages: MESSAGES }),
    });
    expect(reply.statusCode).toBe(200);
  });

  it('may have unknown fields', async () => {
    expect((await test.post({ messages: MESSAGES, foo: 1 })).statusCode).toBe(200);
  });

  it('keeps every digit of a 64-bit seed', async () => {
    const engine = createFakeEngine();
    await test.app.close();
    test = await openTestApp(createFakeServices({ demo: engine }));
    await test.post(`{"messages":[{"role":"user","content":"x"}],"seed":9223372036854775807}`);
    expect(engine.requests[0]?.sampling?.seed).toBe(9223372036854775807n);
  });
});

describe('credentials over REST', () => {
  it.each([
    ['no header', undefined, 401],
    ['another scheme', 'Basic x', 401],
    ['a wrong key', 'Bearer wrong', 401],
    ['a scheme without a key', 'Bearer', 401],
    ['a lower-case scheme', AUTHORIZATION.replace('Bearer', 'bearer'), 200],
    ['the key', AUTHORIZATION, 200],
  ])('%s gives %s the status %i', async (_case, authorization, status) => {
    const reply = await test.app.inject({
      url: '/v1/models',
      headers: authorization === undefined ? {} : { authorization },
    });
    expect(reply.statusCode).toBe(status);
    if (status === 401) {
      const error = { message: 'Unauthorized', type: 'Unauthorized', param: null, code: 401 };
      expect(reply.json()).toEqual({ error });
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    }
  });

  it('are checked before the body', async () => {
    const reply = await test.post('{', { authorization: 'Bearer wrong', 'content-type': 'text/plain' });
    expect(reply.statusCode).toBe(401);
  });
});

describe('a bad body', () => {
  it.each([
    ['text/plain', JSON.stringify({ messages: MESSAGES })],
    ['application/jsonx', JSON.stringify({ messages: MESSAGES })],
    ['application/json', '{'],
    ['application/json', ''],
    ['application/json', '[]'],
    ['application/json', 'null'],
    ['application/json', '{"messages": "x"}'],
    ['application/json', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`],
  ])('of type %s is a Bad Request: %s', async (contentType, payload) => {
    const reply = await test.post(payload, { 'content-type': contentType });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().error).toMatchObject({ type: 'Bad Request', code: 400 });
  });

  it.each([
    ['{"a":1x}', 'The body is not valid JSON: Expected a comma or } at position 6'],
    [
      '{"temperature": 1e400}',
      'The body holds a number beyond ±1.8e308, or an integer of more than 4300 digits, at position 16.',
    ],
    [
      `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
      'The body holds more than 128 nested levels, at position 132.',
    ],
  ])('says whether it is not JSON or beyond a limit, and where: %s', async (payload, message) => {
    const reply = await test.post(payload);
    expect(reply.json().error).toEqual({ message, type: 'Bad Request', param: null, code: 400 });
  });

  it('may have parameters and any case in its content type', async () => {
    const reply = await test.post(
      { messages: MESSAGES },
      { 'content-type': 'Application/JSON; charset=UTF-8' },
    );
    expect(reply.statusCode).toBe(200);
  });

  it('without messages is refused', async () => {
    const { error } = (await test.post({ model: 'demo' })).json();
    expect(error).toEqual({
      message: expect.stringContaining('messages'),
      type: 'Bad Request',
      param: 'messages',
      code: 400,
    });
  });

  it('past the limit is refused with and without a declared length', async () => {
    const body = { messages: [{ role: 'user', content: 'x'.repeat(5_000) }] };
    expect((await test.post(body)).statusCode).toBe(413);
    const url = await test.listen();
    const reply = await fetch(url + CHAT_PATH, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: new Blob([JSON.stringify(body)]).stream(),
      duplex: 'half',
    });
    expect(reply.status).toBe(413);
    expect(await reply.json()).toMatchObject({ error: { type: 'Request Entity Too Large', code: 413 } });
  });

  it('past the limit is refused while it is still being sent', async () => {
    const url = await test.listen();
    const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json' };
    const body = 'x'.repeat(32 * 2 ** 20);
    const broken: Error[] = [];
    for (let i = 0; i < 5; i++) {
      const sending = request(url + CHAT_PATH, { method: 'POST', headers });
      sending.on('error', error => broken.push(error));
      sending.end(body);
      const [reply] = (await once(sending, 'response')) as [IncomingMessage];
      expect([reply.statusCode, reply.headers.connection]).toEqual([413, 'close']);
      reply.resume();
      await once(sending, 'close');
    }
    expect(broken).toEqual([]);
  });
});

describe('refusals', () => {
  it.each([
    [{ model: 'nope' }, 404, 'NotFoundError', 'model'],
    [{ temperature: -1 }, 400, 'BadRequestError', 'temperature'],
    [{ priority: 1 }, 400, 'BadRequestError', 'priority'],
    [{ cache_salt: '' }, 400, 'Bad Request', 'cache_salt'],
    [{ engine_xargs: { a: { b: 1 } } }, 400, 'Bad Request', 'engine_xargs.a'],
    [{ stream_options: { include_usage: true } }, 400, 'Bad Request', 'stream_options'],
    [{ temperature: -1, stream: true }, 400, 'BadRequestError', 'temperature'],
    [
      { structured_outputs: { regex: 'a' }, use_beam_search: true, stream: true },
      400,
      'BadRequestError',
      'structured_outputs',
    ],
  ])('of %j have status %i, type %s and param %s', async (fields, status, type, param) => {
    const reply = await test.post({ messages: MESSAGES, ...fields });
    expect(reply.statusCode).toBe(status);
    expect(reply.headers['content-type']).toContain('application/json');
    const message = expect.stringMatching(/\w/);
    expect(reply.json()).toEqual({ error: { message, type, param, code: status } });
  });

  it.each([
    [{ kind: 'loading', detail: 'building 10%' } as const, 503, '2'],
    [{ kind: 'failed', detail: 'x' } as const, 503, undefined],
    [createFakeEngine({ refuse: new EngineError('overloaded', 'x', { retryAfterMs: 1_200 }) }), 429, '2'],
    [createFakeEngine({ refuse: new EngineError('engine_failed', 'secret') }), 500, undefined],
  ])('of the model itself have a status that says whether to retry', async (model, status, retryAfter) => {
    await test.app.close();
    test = await openTestApp(createFakeServices({ demo: model }));
    const reply = await test.post({ messages: MESSAGES, stream: true });
    expect(reply.statusCode).toBe(status);
    expect(reply.headers['retry-after']).toBe(retryAfter);
    expect(reply.body).not.toContain('secret');
  });
});

describe('paths', () => {
  it.each([
    ['GET', CHAT_PATH, 405, 'Method Not Allowed', 'POST'],
    ['DELETE', '/v1/models', 405, 'Method Not Allowed', 'GET'],
    ['GET', '/v1/nothing', 404, 'Not Found', undefined],
    ['GET', '/V1/models', 404, 'Not Found', undefined],
    ['POST', '/v1/models//', 404, 'Not Found', undefined],
  ] as const)('%s %s gives %i', async (method, url, status, type, allow) => {
    const reply = await test.app.inject({ method, url, headers: { authorization: AUTHORIZATION } });
    expect(reply.statusCode).toBe(status);
    expect(reply.json().error).toMatchObject({ type, param: null, code: status });
    expect(reply.headers.allow).toBe(allow);
  });

  it('with broken escapes are a Bad Request', async () => {
    const reply = await test.app.inject({ url: '/v1/%zz' });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().error).toMatchObject({ type: 'Bad Request', code: 400 });
  });
});

describe('cross-origin calls', () => {
  it('are answered for allowed origins only, without asking for a key', async () => {
    const ask = (origin: string) =>
      test.app.inject({
        method: 'OPTIONS',
        url: CHAT_PATH,
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    expect((await ask('https://a.example')).headers['access-control-allow-origin']).toBe('https://a.example');
    expect((await ask('https://b.example')).headers['access-control-allow-origin']).toBeUndefined();
  });

  it('get their headers on replies and streams', async () => {
    for (const stream of [false, true]) {
      const body = { messages: MESSAGES, stream, temprature: 0 };
      const reply = await test.post(body, { origin: 'https://a.example' });
      expect(reply.headers['access-control-allow-origin']).toBe('https://a.example');
      expect(reply.headers['access-control-expose-headers']).toContain('x-request-id');
      expect(reply.headers['access-control-expose-headers']).toContain('ortler-ignored-fields');
      expect(reply.headers['ortler-ignored-fields']).toBe('temprature');
    }
  });
});
