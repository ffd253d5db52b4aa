import { getEventListeners } from 'node:events';
import { type AppRouter, createAppRouter, listRestRoutes } from '@ortler/api';
import { createOrtlerClient, int64Transformer, MAX_BATCH_CALLS } from '@ortler/api/client';
import { createFakeEngine, createFakeServices, TEST_API_KEY } from '@ortler/api/testing';
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  type TRPCClientError as Refusal,
  TRPCClientError,
} from '@trpc/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

/** Long enough for a busy machine; a wait ends as soon as its condition holds. */
const PATIENCE = { timeout: 20_000 };

let test: TestApp;
afterEach(() => test.app.close());

async function connect(apiKey = TEST_API_KEY, services = createFakeServices(), bodyLimitBytes = 4_096) {
  test = await openTestApp(services, bodyLimitBytes);
  return createOrtlerClient({ url: await test.listen(), apiKey, headers: { 'x-request-id': 'same' } });
}

it('gives the same completion, chunks and models as REST', async () => {
  const client = await connect();
  const request = { messages: MESSAGES, n: 2, return_token_ids: true };
  const rest = (await test.post(request, { 'x-request-id': 'same' })).json();
  expect(await client.chat.complete.mutate(request)).toEqual(rest);
  expect(await client.chat.create.mutate(request)).toEqual(rest);

  const streamed = await test.post({ ...request, stream: true }, { 'x-request-id': 'same' });
  const restChunks = streamed.body
    .split('\n\n')
    .filter(frame => frame.startsWith('data: {'))
    .map(frame => JSON.parse(frame.slice(6)) as unknown);
  const chunks: unknown[] = [];
  for await (const chunk of await client.chat.stream.mutate(request)) chunks.push(chunk);
  expect(chunks).toEqual(restChunks);

  const models = await test.app.inject({
    url: '/v1/models',
    headers: { authorization: `Bearer ${TEST_API_KEY}` },
  });
  expect(await client.models.list.query()).toEqual(models.json());
});

it('refuses a body of another content type in JSON that says that it is JSON', async () => {
  test = await openTestApp();
  const reply = await test.app.inject({
    method: 'POST',
    url: '/trpc/chat.complete',
    headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'text/plain' },
    payload: '{}',
  });
  expect([reply.statusCode, reply.headers['content-type']]).toEqual([400, 'application/json']);
  expect(reply.json().error.data.reason).toBe('malformed_request');
});

it('reads no body of a caller without a key, whose reading blocks the event loop', async () => {
  test = await openTestApp();
  const post = (authorization?: string) =>
    test.app.inject({
      method: 'POST',
      url: '/trpc/chat.complete',
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      payload: JSON.stringify({ messages: 'x'.repeat(10_000) }),
    });
  expect((await post(`Bearer ${TEST_API_KEY}`)).statusCode).toBe(413);
  for (const authorization of [undefined, 'Bearer wrong', `Basic ${btoa('api:wrong')}`]) {
    const reply = await post(authorization);
    expect(reply.statusCode).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer');
    expect(reply.json().error.data).toMatchObject({ reason: 'unauthorized', httpStatus: 401 });
  }
});

it('refuses a wrong key within a subscription, whose clients read nothing of another status', async () => {
  test = await openTestApp();
  const headers = { authorization: 'Bearer wrong' };
  const reply = await test.app.inject({ url: '/trpc/server.load', headers });
  expect(reply.statusCode).toBe(200);
  expect(reply.body).toContain('"httpStatus":401');
});

it('refuses forms before they are read: they have no limit of size in tRPC', async () => {
  test = await openTestApp();
  const url = `${await test.listen()}/trpc/chat.complete`;
  const form = new FormData();
  form.append('messages', 'x'.repeat(100_000));
  const headers = { authorization: `Bearer ${TEST_API_KEY}` };
  const reply = await fetch(url, { method: 'POST', headers, body: form });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({
    error: { message: expect.stringContaining('application/json'), data: { reason: 'malformed_request' } },
  });
});

it('asks proxies not to buffer streams', async () => {
  test = await openTestApp();
  const reply = await test.app.inject({
    method: 'POST',
    url: '/trpc/chat.stream?batch=1',
    headers: {
      authorization: `Bearer ${TEST_API_KEY}`,
      'content-type': 'application/json',
      'trpc-accept': 'application/jsonl',
    },
    payload: JSON.stringify({ 0: { messages: MESSAGES } }),
  });
  expect(reply.headers['x-accel-buffering']).toBe('no');
  expect(reply.body).toContain('Hello');
});

it('gives the same refusals as REST', async () => {
  const client = await connect();
  for (const fields of [{ model: 'nope' }, { temperature: -1 }, { top_logprobs: 3 }, { priority: 1 }]) {
    const request = { messages: MESSAGES, ...fields };
    const { error } = (await test.post(request)).json();
    const thrown = await client.chat.complete.mutate(request).catch((reason: unknown) => reason);
    if (!(thrown instanceof TRPCClientError)) throw new Error('expected a refusal');
    const { message, data } = thrown as TRPCClientError<AppRouter>;
    expect({ message, type: data?.type, param: data?.param, code: data?.httpStatus }).toEqual(error);
    expect(data).not.toHaveProperty('stack');
  }
});

describe('links of the caller', () => {
  const linkOptions = async () => ({
    url: `${await test.listen()}/trpc`,
    transformer: int64Transformer,
    headers: { authorization: `Bearer ${TEST_API_KEY}` },
  });

  it.each([
    ['GET', {}],
    ['POST', { methodOverride: 'POST' as const }],
  ])('send reading procedures as queries by %s', async (_method, more) => {
    test = await openTestApp();
    const client = createTRPCClient<AppRouter>({
      links: [httpLink({ ...(await linkOptions()), ...more })],
    });
    const { tokens } = await client.tokenizer.encode.query({ prompt: 'Hello' });
    expect((await client.tokenizer.decode.query({ tokens })).prompt).toBe('Hello');
    expect(await client.feedback.query.query({ project_id: 'a/b' })).toEqual({ result: [] });
    const counted = await client.responses.countInputTokens.query({ input: 'hi' });
    expect(counted.input_tokens).toBeGreaterThan(0);
    const start = '2026-01-01T00:00:00Z';
    expect(await client.feedback.payloadSchema.query({ project_id: 'a/b', start })).toEqual({ paths: [] });
  });

  it('may send them as mutations, as before they were queries', async () => {
    test = await openTestApp();
    const reply = await test.app.inject({
      method: 'POST',
      url: '/trpc/tokenizer.encode',
      headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' },
      payload: JSON.stringify({ prompt: 'Hello' }),
    });
    expect(reply.statusCode).toBe(200);
  });

  it.each([
    ['httpBatchLink', httpBatchLink],
    ['httpBatchStreamLink', httpBatchStreamLink],
  ])('%s splits batches at the limit, without it they are refused with the limit', async (_name, link) => {
    test = await openTestApp();
    const options = await linkOptions();
    const callAll = (maxItems?: number) => {
      const links = [link<AppRouter>({ ...options, ...(maxItems !== undefined && { maxItems }) })];
      const client = createTRPCClient<AppRouter>({ links });
      return Promise.allSettled(
        Array.from({ length: MAX_BATCH_CALLS * 2 + 1 }, () => client.models.list.query()),
      );
    };
    for (const { status } of await callAll(MAX_BATCH_CALLS)) expect(status).toBe('fulfilled');
    for (const outcome of await callAll()) {
      if (outcome.status === 'fulfilled') throw new Error('expected a refusal');
      const { message, data } = outcome.reason as Refusal<AppRouter>;
      expect(message).toBe(
        'A batch must hold at most 16 calls; this one holds 33. Give the link of the client maxItems: 16.',
      );
      expect(data).toMatchObject({ httpStatus: 400, requestId: expect.any(String) });
    }
  });
});

it.each([
  ['httpLink', httpLink],
  ['httpBatchLink', httpBatchLink],
])(
  '%s cannot carry a stream: the refusal says what can, and nothing is generated on',
  async (_name, link) => {
    const engine = createFakeEngine();
    test = await openTestApp(createFakeServices({ demo: engine }));
    const client = createTRPCClient<AppRouter>({
      links: [
        link<AppRouter>({
          url: `${await test.listen()}/trpc`,
          transformer: int64Transformer,
          headers: { authorization: `Bearer ${TEST_API_KEY}` },
        }),
      ],
    });
    const calls = [
      client.chat.stream.mutate({ messages: MESSAGES }),
      client.chat.create.mutate({ messages: MESSAGES, stream: true }),
      client.completions.stream.mutate({ prompt: 'hi' }),
      client.responses.stream.mutate({ input: 'hi' }),
    ];
    for (const call of calls)
      await expect(call).rejects.toMatchObject({
        message: expect.stringMatching(/^The answer of \S+ is a stream.*use httpBatchStreamLink\.$/),
        data: { httpStatus: 400, reason: 'malformed_request' },
      });
    expect(engine.requests).toHaveLength(calls.length);
    expect(engine.abortedCount).toBe(calls.length);
  },
);

it('sends headers of one call beside those of all', async () => {
  const client = await connect();
  const idOf = async (options?: object) =>
    (await client.chat.complete.mutate({ messages: MESSAGES }, options)).id;
  expect(await idOf({ context: { headers: { 'x-request-id': 'other' } } })).toBe('chatcmpl-other');
  expect(await idOf({ context: { headers: { authorization: 'Bearer wrong' } } })).toBe('chatcmpl-same');
  expect(await idOf()).toBe('chatcmpl-same');
});

it('gives each answer of a batch an id of its own', async () => {
  test = await openTestApp();
  const reply = await test.app.inject({
    method: 'POST',
    url: '/trpc/chat.complete,completions.complete,chat.complete?batch=1',
    headers: {
      authorization: `Bearer ${TEST_API_KEY}`,
      'content-type': 'application/json',
      'x-request-id': 'r',
    },
    payload: JSON.stringify({ 0: { messages: MESSAGES }, 1: { prompt: 'hi' }, 2: { messages: MESSAGES } }),
  });
  const ids = (reply.json() as { result: { data: { id: string } } }[]).map(({ result }) => result.data.id);
  expect(ids).toEqual(['chatcmpl-r', 'cmpl-r-1', 'chatcmpl-r-2']);
});

it('sends long inputs of queries in the body', async () => {
  const client = await connect(TEST_API_KEY, createFakeServices(), 100_000);
  // Headers of 16 KiB and more are refused.
  const prompt = 'word '.repeat(4_000);
  expect((await client.tokenizer.encode.query({ prompt })).count).toBeGreaterThan(4_000);
});

it('refuses a wrong key', async () => {
  const client = await connect('wrong');
  await expect(client.models.list.query()).rejects.toMatchObject({ data: { httpStatus: 401 } });
});

it('carries 64-bit seeds, and plain JSON without the transformer', async () => {
  const engine = createFakeEngine();
  const client = await connect(TEST_API_KEY, createFakeServices({ demo: engine }));
  await client.chat.complete.mutate({ messages: MESSAGES, seed: 9223372036854775807n });
  await test.app.inject({
    method: 'POST',
    url: '/trpc/chat.complete',
    headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ messages: MESSAGES, seed: 5 }),
  });
  expect(engine.requests.map(({ sampling }) => sampling?.seed)).toEqual([9223372036854775807n, 5n]);
});

it('reads integers of plain JSON with all their digits, alone and in a batch', async () => {
  const engine = createFakeEngine();
  test = await openTestApp(createFakeServices({ demo: engine }));
  const body = `{"messages":${JSON.stringify(MESSAGES)},"seed":9223372036854775807}`;
  for (const [url, payload] of [
    ['/trpc/chat.complete', body],
    ['/trpc/chat.complete?batch=1', `{"0":${body}}`],
  ] as const) {
    const headers = { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' };
    expect((await test.app.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(200);
  }
  expect(engine.requests.map(({ sampling }) => sampling?.seed)).toEqual([
    9223372036854775807n,
    9223372036854775807n,
  ]);
});

it('refuses an input that is nested too deeply with the status of REST', async () => {
  test = await openTestApp();
  const deep = `{"payload":${'['.repeat(200)}${']'.repeat(200)}}`;
  const post = async (url: string, authorization: string) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const reply = await test.app.inject({ method: 'POST', url, headers, payload: deep });
    return { status: reply.statusCode, body: reply.json() };
  };
  const basic = `Basic ${Buffer.from(`api:${TEST_API_KEY}`).toString('base64')}`;
  const rest = await post('/feedback/create', basic);
  const trpc = await post('/trpc/feedback.create', basic);
  const msg = 'JSON decode error: more than 128 nested levels';
  expect(rest).toMatchObject({ status: 422, body: { detail: [{ msg, type: 'json_invalid' }] } });
  expect(trpc).toMatchObject({
    status: 422,
    body: { error: { data: { faults: [{ loc: ['body'], msg, type: 'json_invalid' }] } } },
  });
  const bearer = `Bearer ${TEST_API_KEY}`;
  for (const url of ['/v1/chat/completions', '/trpc/chat.complete'])
    expect((await post(url, bearer)).status).toBe(400);
});

it.each([
  ['/trpc/chat.complete', '{"messages":}', 'The body is not valid JSON'],
  ['/trpc/chat.complete?batch=1', '7', 'The body of a batch must be a JSON object of inputs.'],
  ['/trpc/chat.complete?batch=1', '{"1":{}}', 'Field required'],
])('refuses a body that holds no input: %s with %s', async (url, payload, message) => {
  test = await openTestApp();
  const headers = { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' };
  const reply = await test.app.inject({ method: 'POST', url, headers, payload });
  const [{ error }] = [reply.json()].flat();
  expect([reply.statusCode, error.data.reason]).toEqual([400, 'malformed_request']);
  expect(error.message).toContain(message);
});

it('answers the deepest input that is accepted, which the answer repeats', async () => {
  const client = await connect();
  const inParameters = 4;
  let examples: unknown = 'x';
  for (let depth = inParameters; depth < 128; depth++) examples = [examples];
  const request = {
    tool_choice: 'none' as const,
    input: 'hi',
    tools: [{ type: 'function' as const, name: 'f', parameters: { examples } }],
  };
  const whole = await client.responses.complete.mutate(request);
  expect(whole.tools[0]?.parameters).toEqual({ examples });
  const types: string[] = [];
  for await (const { type } of await client.responses.stream.mutate(request)) types.push(type);
  expect(types.at(-1)).toBe('response.completed');
  const deeper = { ...request, tools: [{ ...request.tools[0]!, parameters: { examples: [examples] } }] };
  await expect(client.responses.complete.mutate(deeper)).rejects.toThrow('deeper than 128 levels');
});

it('aborts the generation when the client aborts', async () => {
  const hold = Promise.withResolvers<void>();
  const engine = createFakeEngine({
    beforeToken: number => (number === 1 ? hold.promise : Promise.resolve()),
  });
  const client = await connect(TEST_API_KEY, createFakeServices({ demo: engine }));
  const leave = new AbortController();
  const read = async () => {
    const stream = await client.chat.stream.mutate({ messages: MESSAGES }, { signal: leave.signal });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Hello') leave.abort();
  };
  await expect(read()).rejects.toThrow();
  await vi.waitFor(() => expect(engine.abortedCount).toBe(1), PATIENCE);
});

it('keeps no listeners of ended calls on the stop signal of the server', async () => {
  const client = await connect();
  for (let call = 0; call < 3; call++) {
    await client.models.list.query();
    for await (const _ of await client.chat.stream.mutate({ messages: MESSAGES }));
  }
  await vi.waitFor(() => expect(getEventListeners(test.stopping.signal, 'abort')).toEqual([]), PATIENCE);
});

it('documents every route, and routes everything that is documented', async () => {
  test = await openTestApp();
  const document = (await test.app.inject('/openapi.json')).json();
  const documented = Object.entries(document.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map(method => `${method.toUpperCase()} ${path}`),
  );
  const routed = listRestRoutes(createAppRouter(createFakeServices())).map(
    ({ method, path }) => `${method} ${path}`,
  );
  const system = [
    'GET /health',
    'GET /health/live',
    'GET /health/ready',
    'GET /metrics',
    'GET /model_info',
    'GET /ping',
    'GET /server_info',
    'GET /version',
    'POST /ping',
  ];
  expect(documented.sort()).toEqual([...routed, ...system].sort());
  for (const route of system) {
    const [method, url] = route.split(' ') as ['GET' | 'POST', string];
    expect((await test.app.inject({ method, url })).statusCode, route).toBe(200);
  }
  for (const route of routed) {
    const [method, path] = route.split(' ') as ['GET' | 'POST', string];
    // Without a key a route answers 401; only a path that is not routed answers 404 or 405.
    expect((await test.app.inject({ method, url: path.replaceAll(/\{.*?\}/g, 'x') })).statusCode).toBe(401);
  }
});
