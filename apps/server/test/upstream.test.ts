// A model that other servers answer for, over HTTP: what goes out, what comes back, and what is said when a server fails.

import { createOrtlerClient } from '@ortler/api/client';
import {
  createFakeEngine,
  createFakeServices,
  type FakeServices,
  TEST_API_KEY,
  teamApiKey,
} from '@ortler/api/testing';
import { responseStreamEvent } from '@ortler/schemas';
import type { UpstreamOptions } from '@ortler/upstream';
import { type FaultyServer, type Step, startFaultyServer, steps } from '@ortler/upstream/testing';
import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createUpstreamModel } from '../src/models/upstream-model.ts';
import { reportHealth } from '../src/system/health.ts';
import type { FinishedSpan } from '../src/tracing/otlp-exporter.ts';
import { createTracing, type Tracing } from '../src/tracing/tracing.ts';
import {
  AUTHORIZATION,
  CHAT_PATH,
  MESSAGES,
  openTestApp,
  readEvents,
  type TestApp,
} from './open-test-app.ts';

/** Long enough for a busy machine; short where a server says nothing. Unit: milliseconds. */
const PATIENT = { connectMs: 20_000, firstByteMs: 20_000, silenceMs: 20_000 };
const IMPATIENT = { firstByteMs: 250, silenceMs: 250 };

/** What is waited for takes milliseconds; the limit only ends a test that waits in vain. */
const PATIENCE = { timeout: 20_000 };
const COMPLETION_PATH = '/v1/completions';
const SECRET = 'sk-secret-of-the-upstream';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Front extends TestApp {
  readonly log: string[];
  readonly faults: string[];
  send(path: string, body: object, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
}

interface FrontOptions {
  readonly apiKey?: string;
  readonly timeouts?: UpstreamOptions['timeouts'];
  readonly promptCacheScope?: 'team' | 'server';
  readonly services?: Partial<FakeServices>;
  readonly tracing?: Tracing | undefined;
}

/** A server whose only model, `big`, is the model `name` of other servers. */
async function openFront(urls: readonly string[], name: string, options: FrontOptions = {}): Promise<Front> {
  const log: string[] = [];
  const faults: string[] = [];
  const { apiKey = SECRET, promptCacheScope = 'team' } = options;
  const upstream = createUpstreamModel({
    model: { id: 'big', urls, name },
    apiKey,
    timeouts: { ...PATIENT, ...options.timeouts },
    onFault: (server, reason) => faults.push(`${server} ${reason}`),
  });
  closing.push(() => upstream.close());
  await upstream.start();
  const services = {
    ...createFakeServices({ big: { kind: 'upstream', upstream } }),
    promptCacheScope,
    ...options.services,
  };
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });
  const front = await openTestApp(services, 65_536, { logger, tracing: options.tracing });
  closing.push(() => front.app.close());
  const send = (url: string, body: object, headers: Record<string, string> = {}) =>
    front.app.inject({
      method: 'POST',
      url,
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(body),
    });
  return { ...front, log, faults, send };
}

/** Another Ortler, whose model is `big` too. */
async function openBack(engine = createFakeEngine({ pieces: ['Grüße ', '👋🏽', '\n\ndata: x', '\u2028'] })) {
  const back = await openTestApp(createFakeServices({ big: engine }), 65_536);
  const url = `${await back.listen()}/v1`;
  closing.push(() => back.app.close());
  return { ...back, url, engine };
}

async function openFaulty(...script: readonly Step[]): Promise<FaultyServer> {
  const server = await startFaultyServer(
    ...script.map(step => steps.listing([{ id: 'm', max_model_len: 512 }], step)),
  );
  closing.push(() => server.close());
  return server;
}

/** Bodies of the requests that a server was passed. */
const passedTo = (server: FaultyServer) =>
  server.bodies.filter(body => body !== '').map(body => JSON.parse(body) as Record<string, unknown>);

const chatReply = (content: string, fields: object = {}) =>
  steps.json({
    id: 'theirs',
    object: 'chat.completion',
    created: 7,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    ...fields,
  });
const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const piece = (content: string) => event({ choices: [{ index: 0, delta: { content } }] });
const DONE = 'data: [DONE]\n\n';

describe('another Ortler as upstream', () => {
  const requests: [string, string, object][] = [
    ['a chat', CHAT_PATH, { messages: MESSAGES }],
    ['a chat with choices and ids', CHAT_PATH, { messages: MESSAGES, n: 2, return_token_ids: true }],
    ['log probabilities', CHAT_PATH, { messages: MESSAGES, logprobs: true, top_logprobs: 2 }],
    ['a chat with its name', CHAT_PATH, { messages: MESSAGES, model: 'big', request_id: 'mine' }],
    ['a completion', COMPLETION_PATH, { prompt: 'Say' }],
    ['completions', COMPLETION_PATH, { prompt: ['Say', 'Tell'], n: 2, logprobs: 1 }],
  ];
  const streams = [
    { stream: true },
    { stream: true, stream_options: { include_usage: true } },
    { stream: true, stream_options: { include_usage: true, continuous_usage_stats: true } },
  ];

  it.each(requests)('gives %s byte for byte as when it is asked itself', async (_, path, body) => {
    const back = await openBack();
    const front = await openFront([back.url], 'big', { apiKey: TEST_API_KEY });
    for (const form of [{}, ...streams]) {
      const headers = {
        authorization: AUTHORIZATION,
        'content-type': 'application/json',
        'x-request-id': 'r',
      };
      const payload = JSON.stringify({ ...body, ...form });
      const direct = await back.app.inject({ method: 'POST', url: path, headers, payload });
      const passed = await front.app.inject({ method: 'POST', url: path, headers, payload });
      expect(passed.statusCode).toBe(200);
      expect(passed.body).toBe(direct.body);
      expect(passed.headers['content-type']).toBe(direct.headers['content-type']);
    }
  });

  it('gives REST and tRPC the same', async () => {
    const back = await openBack();
    const front = await openFront([back.url], 'big', { apiKey: TEST_API_KEY });
    const client = createOrtlerClient({
      url: await front.listen(),
      apiKey: TEST_API_KEY,
      headers: { 'x-request-id': 'same' },
    });
    const body = { messages: MESSAGES, n: 2, return_token_ids: true };
    const rest = await front.send(CHAT_PATH, body, { 'x-request-id': 'same' });
    expect(await client.chat.complete.mutate(body)).toEqual(rest.json());
    expect(await client.chat.create.mutate(body)).toEqual(rest.json());
    const streamed = await front.send(CHAT_PATH, { ...body, stream: true }, { 'x-request-id': 'same' });
    const chunks: unknown[] = [];
    for await (const chunk of await client.chat.stream.mutate(body)) chunks.push(chunk);
    expect(chunks).toEqual(readEvents(streamed.body));
  });

  it('refuses what it refuses, in its words', async () => {
    const back = await openBack();
    const front = await openFront([back.url], 'big', { apiKey: TEST_API_KEY });
    const body = { messages: MESSAGES, guided_json: '{}' };
    // Our rules come first, and are the same.
    expect((await front.send(CHAT_PATH, body)).json()).toEqual((await back.post(body)).json());
    expect(back.engine.requests).toHaveLength(0);
  });

  it.each([
    ['text', { input: 'hi' }],
    ['log probabilities', { input: 'hi', top_logprobs: 2 }],
  ])('answers /v1/responses with the events of its own: %s', async (_, body) => {
    const back = await openBack();
    const front = await openFront([back.url], 'big', { apiKey: TEST_API_KEY });
    const read = async (app: TestApp['app'], form: object) => {
      const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json' };
      const payload = JSON.stringify({ ...body, ...form, store: false });
      const reply = await app.inject({ method: 'POST', url: '/v1/responses', headers, payload });
      expect(reply.statusCode).toBe(200);
      // Ids are new with each answer.
      return reply.body.replaceAll(/(resp|msg|rs|fc)_[0-9a-f]{32}/g, '$1_id');
    };
    for (const form of [{}, { stream: true }])
      expect(await read(front.app, form)).toBe(await read(back.app, form));
    expect(front.services.usages).toHaveLength(2);
  });

  it('counts its tokens, also where the caller asked for none', async () => {
    const back = await openBack();
    const front = await openFront([back.url], 'big', { apiKey: TEST_API_KEY });
    for (const form of [{}, ...streams]) await front.send(CHAT_PATH, { messages: MESSAGES, ...form });
    const { usages, reports } = front.services;
    expect(usages).toHaveLength(4);
    expect(new Set(usages.map(usage => JSON.stringify(usage))).size).toBe(1);
    expect(usages[0]).toMatchObject({ keyId: 'key-1', model: 'big', requestCount: 1 });
    expect(usages[0]).toMatchObject(
      (({ inputTokenCount, outputTokenCount }) => ({ inputTokenCount, outputTokenCount }))(
        back.services.usages[0]!,
      ),
    );
    for (const report of reports)
      expect(report).toMatchObject({ outcome: 'finished', finishReasons: ['stop'], timing: null });
  });
});

describe('what goes to a server', () => {
  it('is the body as it came, with its own name, key and what this server decides', async () => {
    const server = await openFaulty(chatReply('hi'));
    const front = await openFront([server.url], 'm');
    await front.send(
      CHAT_PATH,
      {
        messages: MESSAGES,
        model: 'big',
        seed: 1,
        mirostat: 2,
        n: 1,
        tools: [{ type: 'function', function: { name: 'f' } }],
      },
      { 'x-request-id': 'r-1' },
    );
    expect(passedTo(server)).toEqual([
      {
        messages: MESSAGES,
        model: 'm',
        seed: 1,
        mirostat: 2,
        n: 1,
        tools: [{ type: 'function', function: { name: 'f' } }],
        stream: false,
        // Tool calling is off here.
        tool_choice: 'none',
      },
    ]);
    expect(server.headers.at(-1)).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-request-id': 'r-1' });
  });

  it('has an id of its own for each call of a tRPC batch, of which vLLM runs one at a time', async () => {
    const server = await openFaulty(chatReply('a'), chatReply('b'));
    const front = await openFront([server.url], 'm');
    const payload = JSON.stringify({ 0: { messages: MESSAGES }, 1: { messages: MESSAGES } });
    const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json', 'x-request-id': 'r' };
    const url = '/trpc/chat.complete,chat.complete?batch=1';
    await front.app.inject({ method: 'POST', url, headers, payload });
    const ids = server.headers.map(sent => sent['x-request-id']);
    // The question for its models has none.
    expect(ids.filter(id => id !== undefined).toSorted()).toEqual(['r', 'r-1']);
  });

  it('keeps integers of 64 bits', async () => {
    const server = await openFaulty(chatReply('hi'));
    const front = await openFront([server.url], 'm');
    await front.app.inject({
      method: 'POST',
      url: CHAT_PATH,
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      payload: `{"messages": ${JSON.stringify(MESSAGES)}, "seed": 9007199254740993}`,
    });
    expect(server.bodies.at(-1)).toContain('"seed":9007199254740993');
  });

  it('asks for usage with every stream, which the caller gets only on request', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const server = await openFaulty(
      steps.events(piece('a'), piece('b'), event({ choices: [], usage }), DONE),
    );
    const front = await openFront([server.url], 'm');
    const plain = readEvents((await front.send(CHAT_PATH, { messages: MESSAGES, stream: true })).body);
    expect(plain).toHaveLength(2);
    const shared = { object: 'chat.completion.chunk', created: 1_790_000_000, model: 'big' };
    for (const chunk of plain) expect(chunk).toMatchObject(shared);
    const body = { messages: MESSAGES, stream: true, stream_options: { include_usage: true } };
    const asked = readEvents((await front.send(CHAT_PATH, body)).body);
    expect(asked).toHaveLength(3);
    expect(asked[2]).toMatchObject({ usage });
    for (const { stream_options: options } of passedTo(server))
      expect(options).toEqual({ include_usage: true });
    for (const { inputTokenCount, outputTokenCount } of front.services.usages)
      expect([inputTokenCount, outputTokenCount]).toEqual([3, 2]);
  });

  it.each([{}, { choices: null }])('takes usage beside %j, as some servers send it', async fields => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const server = await openFaulty(steps.events(piece('a'), event({ ...fields, usage }), DONE));
    const front = await openFront([server.url], 'm');
    const body = { messages: MESSAGES, stream: true, stream_options: { include_usage: true } };
    const [, last] = readEvents((await front.send(CHAT_PATH, body)).body);
    expect(last).toMatchObject({ choices: [], usage });
    expect(front.services.usages).toMatchObject([{ inputTokenCount: 3, outputTokenCount: 2 }]);
  });

  it('separates the cached prompts of teams, unless the server shares them', async () => {
    const server = await openFaulty(chatReply('hi'));
    const send = async (key: string, scope: 'team' | 'server', salt?: string) => {
      const front = await openFront([server.url], 'm', { promptCacheScope: scope });
      const body = { messages: MESSAGES, ...(salt !== undefined && { cache_salt: salt }) };
      await front.send(CHAT_PATH, body, { authorization: `Bearer ${key}` });
      return passedTo(server).at(-1)!.cache_salt;
    };
    const salts = [
      await send(teamApiKey('a'), 'team'),
      await send(teamApiKey('b'), 'team'),
      await send(teamApiKey('a'), 'team', 'own'),
      await send(teamApiKey('b'), 'team', 'own'),
    ];
    expect(new Set(salts).size).toBe(4);
    expect(await send(teamApiKey('a'), 'team')).toBe(salts[0]);
    expect(await send(teamApiKey('a'), 'server')).toBeUndefined();
    expect(await send(teamApiKey('a'), 'server', 'own')).toBe('own');
    expect(await send(TEST_API_KEY, 'team')).toBeUndefined();
  });
});

describe('the trace of the caller', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  const ask = async (tracing: Tracing | undefined, headers: Record<string, string>) => {
    const server = await openFaulty(chatReply('hi'));
    const front = await openFront([server.url], 'm', { tracing });
    await front.send(CHAT_PATH, { messages: MESSAGES }, headers);
    return server.headers.at(-1)!;
  };
  const createRecorded = () => {
    const spans: FinishedSpan[] = [];
    const exporter = { add: (span: FinishedSpan) => spans.push(span), close: async () => undefined };
    return { spans, tracing: createTracing({ exporter, sampleShare: 1 }) };
  };

  it('goes on as it came where nothing is traced here', async () => {
    const sent = { traceparent, tracestate: 'a=b' };
    expect(await ask(undefined, sent)).toMatchObject(sent);
    expect(await ask(undefined, { tracestate: 'a=b' })).not.toHaveProperty('tracestate');
  });

  it('goes on below the span of the request', async () => {
    const { spans, tracing } = createRecorded();
    const passed = await ask(tracing, { traceparent, tracestate: 'a=b' });
    const { spanId } = spans.find(({ kind }) => kind === 'server')!;
    expect(passed).toMatchObject({ traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'a=b' });
  });

  it('begins here without one, and then has no state', async () => {
    const { spans, tracing } = createRecorded();
    const passed = await ask(tracing, { traceparent: 'broken', tracestate: 'a=b' });
    const { traceId: own, spanId } = spans.find(({ kind }) => kind === 'server')!;
    expect(passed).toMatchObject({ traceparent: `00-${own}-${spanId}-01` });
    expect(passed).not.toHaveProperty('tracestate');
  });
});

describe('what comes back', () => {
  it('has every field of the wire, absent ones as null, and what only the server knows', async () => {
    const server = await openFaulty(
      steps.json({
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'hi', reasoning_content: 'hm' },
            finish_reason: 'content_filter',
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        timings: { predicted_ms: 1 },
      }),
    );
    const front = await openFront([server.url], 'm');
    const reply = await front.send(CHAT_PATH, { messages: MESSAGES }, { 'x-request-id': 'r' });
    expect(reply.json()).toEqual({
      id: 'chatcmpl-r',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'big',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'hi',
            refusal: null,
            annotations: null,
            audio: null,
            function_call: null,
            tool_calls: [],
            reasoning: 'hm',
          },
          logprobs: null,
          finish_reason: 'content_filter',
          stop_reason: null,
          token_ids: null,
        },
      ],
      service_tier: null,
      system_fingerprint: null,
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      prompt_logprobs: null,
      prompt_token_ids: null,
      kv_transfer_params: null,
      timings: { predicted_ms: 1 },
    });
  });

  it('is counted by an estimate where a server says nothing of usage', async () => {
    const text = event({ choices: [{ index: 0, text: 'a' }] });
    const server = await openFaulty(steps.events(text, text, DONE));
    const front = await openFront([server.url], 'm');
    await front.send(COMPLETION_PATH, { prompt: 'x'.repeat(40), stream: true });
    await front.send(COMPLETION_PATH, { prompt: [5, 6, 7], stream: true });
    expect(front.services.usages).toMatchObject([
      { inputTokenCount: 10, outputTokenCount: 2 },
      { inputTokenCount: 3, outputTokenCount: 2 },
    ]);
  });

  it('is counted by its text where a whole answer has no usage, and says so', async () => {
    const front = await openFront([(await openFaulty(chatReply('x'.repeat(40)))).url], 'm');
    const reply = await front.send(CHAT_PATH, { messages: MESSAGES });
    expect(reply.json().usage).toMatchObject({ completion_tokens: 10 });
    expect(front.services.usages).toMatchObject([{ outputTokenCount: 10 }]);
  });

  it('names the model and its context in the model list, and has no tokenizer here', async () => {
    const server = await openFaulty(chatReply('hi'));
    const front = await openFront([server.url], 'm');
    const list = await front.app.inject({ url: '/v1/models', headers: { authorization: AUTHORIZATION } });
    expect(list.json().data).toMatchObject([{ id: 'big', max_model_len: 512 }]);
    const tokens = await front.send('/tokenize', { prompt: 'Say' });
    expect(tokens.statusCode).toBe(400);
    expect(tokens.json().error).toMatchObject({
      param: 'model',
      message: expect.stringContaining('answered by other servers'),
    });
  });
});

/** How a server fails, and the status and code that a caller gets before the first byte. */
const FAULTS: readonly [string, Step, number, string | number][] = [
  ['resets the connection', steps.reset, 502, 'upstream_failed'],
  ['gives no answer', steps.nothing, 504, 'upstream_timeout'],
  ['answers with a page', steps.json('<html></html>'), 502, 'upstream_failed'],
  ['answers with half of JSON', steps.json('{"id": "a", '), 502, 'upstream_failed'],
  ['answers with nothing', steps.json(''), 502, 'upstream_failed'],
  ['answers with a list', steps.json([1]), 502, 'upstream_failed'],
  ['answers without choices', steps.json({ id: 'a' }), 502, 'upstream_failed'],
  ['redirects', steps.json({}, 302, { location: 'http://elsewhere/' }), 502, 'upstream_failed'],
  ['says 400', steps.json({ error: { message: 'no such thing', param: 'top_k' } }, 400), 400, 400],
  ['says 401', steps.json({ error: `no ${SECRET}` }, 401), 502, 'upstream_failed'],
  ['says 403', steps.json({}, 403), 502, 'upstream_failed'],
  ['says 404', steps.json({ error: { message: 'no model m' } }, 404), 502, 'upstream_failed'],
  ['says 413', steps.json({ error: { message: 'too large' } }, 413), 413, 413],
  ['says 422', steps.json({ detail: 'wrong type' }, 422), 400, 400],
  ['says 429', steps.json({}, 429, { 'retry-after': '7' }), 429, 429],
  ['says 500', steps.json({ error: { message: 'boom' } }, 500), 502, 'upstream_failed'],
  ['says 502', steps.json('bad gateway', 502), 502, 'upstream_failed'],
  ['says 503', steps.json({}, 503, { 'retry-after': '3' }), 503, 503],
  ['says 504', steps.json({}, 504), 504, 'upstream_timeout'],
  [
    'says that the prompt is too long',
    steps.json({ error: { message: 'too long', code: 'context_length_exceeded' } }, 400),
    400,
    'context_length_exceeded',
  ],
];

describe('a server that fails before the first byte', () => {
  it.each(FAULTS)('and %s is reported with its own status', async (_, step, status, code) => {
    for (const form of [{}, { stream: true }]) {
      const server = await openFaulty(step);
      const timeouts = step === steps.nothing ? IMPATIENT : PATIENT;
      const front = await openFront([server.url], 'm', { timeouts });
      const reply = await front.send(CHAT_PATH, { messages: MESSAGES, ...form });
      expect(reply.statusCode).toBe(status);
      expect(reply.json().error).toMatchObject({ code });
      expect(reply.headers['retry-after']).toBe({ 429: '7', 503: '3' }[status]);
      // Neither the address nor the key is anyone's but the operator's.
      expect(reply.body).not.toContain('127.0.0.1');
      expect([reply.body, ...front.log, ...front.faults].join()).not.toContain(SECRET);
      expect(front.services.usages).toHaveLength(0);
      if (code === 'upstream_failed' || code === 'upstream_timeout')
        expect(front.log.join()).toMatch(/"reason":"(127\.0\.0\.1:\d+|An answer) /);
    }
  });

  it('and does not listen is reported as one that cannot be reached', async () => {
    const server = await openFaulty(steps.reset);
    await server.close();
    const front = await openFront([server.url], 'm');
    const reply = await front.send(CHAT_PATH, { messages: MESSAGES });
    expect(reply.statusCode).toBe(502);
    expect(reply.json().error.message).toBe('The server of the model big cannot be reached.');
    expect(front.faults).toHaveLength(1);
    expect(reportHealth(front.services.models)).toMatchObject({
      status: 'unavailable',
      models: [{ id: 'big', state: 'restarting', servers: [{ breaker: 'closed', open_requests: 0 }] }],
    });
  });

  it('is asked no more after five failures, and the health and metrics say so', async () => {
    const server = await openFaulty(steps.json({}, 500));
    const front = await openFront([server.url], 'm');
    expect(reportHealth(front.services.models)).toMatchObject({ status: 'ok' });
    for (let count = 0; count < 5; count++) await front.send(CHAT_PATH, { messages: MESSAGES });
    const reply = await front.send(CHAT_PATH, { messages: MESSAGES });
    expect(reply.statusCode).toBe(503);
    expect(reply.headers['retry-after']).toBe('1');
    expect(passedTo(server)).toHaveLength(5);
    expect(reportHealth(front.services.models)).toMatchObject({
      models: [{ state: 'restarting', servers: [{ breaker: 'open' }] }],
    });
    const { body } = await front.app.inject({ url: '/metrics' });
    expect(body).toContain('ortler:upstream_breaker_open{model_name="big",server="0"} 1');
    expect(body).toContain('ortler:upstream_failures_total{model_name="big",server="0"} 5');
    expect(body).toContain('ortler:upstream_requests_open{model_name="big",server="0"} 0');
    // Nobody has read their prompts.
    expect(body).toMatch(/^vllm:prompt_tokens_total\{.*model_name="big".*\} 0$/m);
  });

  it('is known to be back soon after it is', async () => {
    const server = await startFaultyServer(steps.reset, steps.listing([{ id: 'm' }], steps.nothing));
    closing.push(() => server.close());
    const front = await openFront([server.url], 'm');
    expect(reportHealth(front.services.models)).toMatchObject({ status: 'unavailable' });
    await vi.waitFor(() => expect(reportHealth(front.services.models)).toMatchObject({ status: 'ok' }), {
      timeout: 8_000,
    });
  }, 20_000);

  it('is left for another server, whose answer the caller gets', async () => {
    const good = await openFaulty(chatReply('fine'));
    for (const bad of [steps.reset, steps.nothing, steps.json({}, 503), steps.json({}, 429)]) {
      const server = await openFaulty(bad);
      // Both orders, because the conversation has its own first server.
      for (const urls of [
        [server.url, good.url],
        [good.url, server.url],
      ]) {
        const timeouts = bad === steps.nothing ? IMPATIENT : PATIENT;
        const front = await openFront(urls, 'm', { timeouts });
        const reply = await front.send(CHAT_PATH, { messages: MESSAGES });
        expect(reply.json().choices[0].message.content).toBe('fine');
      }
    }
  });
});

describe('a server that fails after the first byte', () => {
  const broken: readonly [string, Step, string][] = [
    ['resets the connection', steps.eventsThenReset(piece('a')), 'upstream_failed'],
    ['ends without [DONE]', steps.events(piece('a')), 'upstream_failed'],
    ['is silent', steps.eventsThenSilence(piece('a')), 'upstream_timeout'],
    ['sends no JSON', steps.events(piece('a'), 'data: {"x"\n\n', DONE), 'upstream_failed'],
    ['sends no choices', steps.events(piece('a'), event({ id: 'x' }), DONE), 'upstream_failed'],
    [
      'sends an error',
      steps.events(piece('a'), event({ error: { message: 'boom' } }), DONE),
      'upstream_failed',
    ],
  ];

  it.each([
    ['in the form of OpenAI', { error: { message: `boom for ${SECRET}` } }],
    ['as a text', { error: `boom for ${SECRET}` }],
    ['in the form of older vLLM', { object: 'error', message: `boom for ${SECRET}`, code: 500 }],
  ])('and says so %s is quoted without the key, streamed or not', async (_, error) => {
    const streams = [[event(error)], [piece('a'), event(error)]].map(events => steps.events(...events, DONE));
    for (const step of [...streams, steps.json(error)]) {
      const front = await openFront([(await openFaulty(step)).url], 'm');
      const stream = streams.includes(step);
      const reply = await front.send(CHAT_PATH, { messages: MESSAGES, stream });
      expect(reply.body).toContain('failed within its answer: boom for ***');
      expect([reply.body, ...front.log].join()).not.toContain(SECRET);
    }
  });

  it.each(broken)(
    'and %s ends the stream with an error event, and is not asked again',
    async (_, step, code) => {
      const server = await openFaulty(step);
      const other = await openFaulty(step);
      const timeouts = code === 'upstream_timeout' ? { silenceMs: 2_000 } : PATIENT;
      const front = await openFront([server.url, other.url], 'm', { timeouts });
      const reply = await front.send(CHAT_PATH, { messages: MESSAGES, stream: true });
      const [first, last, ...rest] = readEvents(reply.body);
      expect(reply.statusCode).toBe(200);
      expect(first).toMatchObject({ choices: [{ delta: { content: 'a' } }] });
      expect(last).toMatchObject({ error: { code } });
      expect(rest).toEqual([]);
      expect([...passedTo(server), ...passedTo(other)]).toHaveLength(1);
      // What the caller has seen is counted.
      expect(front.services.usages).toMatchObject([{ outputTokenCount: 1 }]);
      expect(front.services.reports).toMatchObject([{ outcome: 'failed' }]);
    },
  );
});

describe('/v1/responses', () => {
  it('has reasoning, text and calls of a server, whatever its words for them', async () => {
    const delta = (fields: object, reason: string | null = null) =>
      event({ choices: [{ index: 0, delta: fields, finish_reason: reason }] });
    const server = await openFaulty(
      steps.events(
        delta({ role: 'assistant', reasoning_content: 'Hm' }),
        delta({ content: 'Let me' }),
        delta({ content: ' look.' }),
        delta({
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }],
        }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
        delta({}, 'tool_calls'),
        event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 } }),
        DONE,
      ),
    );
    const front = await openFront([server.url], 'm', { services: { toolCalling: true } });
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
    const reply = await front.send('/v1/responses', { input: 'hi', tools, store: false });
    expect(reply.json()).toMatchObject({
      status: 'completed',
      model: 'big',
      output: [
        { type: 'reasoning', content: [{ text: 'Hm' }] },
        { type: 'message', content: [{ text: 'Let me look.' }] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
      ],
      usage: { input_tokens: 3, output_tokens: 9 },
    });
    // Nothing is sent that the caller did not say.
    expect(Object.keys(passedTo(server)[0]!).sort()).toEqual([
      'messages',
      'model',
      'parallel_tool_calls',
      'stream',
      'stream_options',
      'tool_choice',
      'tools',
    ]);
  });

  it.each([
    ['repeat the name and the id of a call', [{ arguments: '{"a"' }, { arguments: ':1}' }]],
    ['send its arguments as a value', [{ arguments: { a: 1 } }]],
  ])('has one call of servers that %s', async (_, pieces) => {
    const call = (part: object) => ({ index: 0, id: 'c1', function: { name: 'f', ...part } });
    const events = pieces.map(part =>
      event({ choices: [{ index: 0, delta: { tool_calls: [call(part)] } }] }),
    );
    const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
    const server = await openFaulty(steps.events(...events, end, DONE));
    const front = await openFront([server.url], 'm', { services: { toolCalling: true } });
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
    const reply = await front.send('/v1/responses', { input: 'hi', tools, store: false });
    expect(reply.json().output).toMatchObject([{ call_id: 'c1', name: 'f', arguments: '{"a":1}' }]);
  });

  it('has text and reasoning of servers that send content in parts', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] };
    const parts = [[thinking], [{ type: 'text', text: 'Hello' }]];
    const events = parts.map(content => event({ choices: [{ index: 0, delta: { content } }] }));
    const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    const front = await openFront([(await openFaulty(steps.events(...events, end, DONE))).url], 'm');
    const reply = await front.send('/v1/responses', { input: 'hi', store: false });
    expect(reply.json().output).toMatchObject([
      { type: 'reasoning', content: [{ text: 'Hm' }] },
      { type: 'message', content: [{ text: 'Hello' }] },
    ]);
  });

  it('is incomplete where a server filters the content', async () => {
    const said = event({ choices: [{ index: 0, delta: { content: 'Well' } }] });
    const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] });
    const front = await openFront([(await openFaulty(steps.events(said, end, DONE))).url], 'm');
    const reply = await front.send('/v1/responses', { input: 'hi', store: false });
    expect(reply.json()).toMatchObject({
      status: 'incomplete',
      error: null,
      incomplete_details: { reason: 'content_filter' },
      output: [{ type: 'message', status: 'incomplete', content: [{ text: 'Well' }] }],
    });
  });

  it('has the refusal of a server, whole and in the events of OpenAI', async () => {
    const pieces = ['I cannot', ' help.'].map(refusal =>
      event({ choices: [{ index: 0, delta: { refusal } }] }),
    );
    const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    const server = await openFaulty(steps.events(...pieces, end, DONE));
    const front = await openFront([server.url], 'm');
    const content = [{ type: 'refusal', refusal: 'I cannot help.' }];
    const first = (await front.send('/v1/responses', { input: 'hi' })).json();
    expect(first).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', status: 'completed', content }],
      // The server said no counts.
      usage: { output_tokens: 2 },
    });
    const { body } = await front.send('/v1/responses', { input: 'hi', stream: true, store: false });
    const events = [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
    for (const sent of events) expect(responseStreamEvent.parse(sent)).toEqual(sent);
    expect(events.slice(2, 8)).toMatchObject([
      { type: 'response.output_item.added', item: { type: 'message', content: [] } },
      { type: 'response.content_part.added', part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', delta: 'I cannot' },
      { type: 'response.refusal.delta', delta: ' help.' },
      { type: 'response.refusal.done', refusal: 'I cannot help.' },
      { type: 'response.content_part.done', part: content[0] },
    ]);
    await front.send('/v1/responses', { input: 'Why?', previous_response_id: first.id });
    expect(passedTo(server).at(-1)?.messages).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'I cannot help.' },
      { role: 'user', content: 'Why?' },
    ]);
  });

  it('fails, with the text that came, where a server ends without a finish reason', async () => {
    const front = await openFront([(await openFaulty(steps.events(piece('a'), DONE))).url], 'm');
    const { body } = await front.send('/v1/responses', { input: 'hi', stream: true, store: false });
    const [, failed] = /^event: response\.failed\ndata: (.*)$/m.exec(body)!;
    expect(JSON.parse(failed!).response).toMatchObject({
      error: { message: expect.stringContaining('without a finish reason') },
      output: [{ type: 'message', status: 'incomplete', content: [{ text: 'a' }] }],
    });
  });

  it('fails as a response does where a server breaks off', async () => {
    const server = await openFaulty(steps.eventsThenReset(piece('a')));
    const front = await openFront([server.url], 'm');
    const { body } = await front.send('/v1/responses', { input: 'hi', stream: true, store: false });
    expect(body).toContain('event: response.failed');
    expect(body).toContain('lost the connection');
  });
});

describe('a caller that leaves', () => {
  it.each([false, true])('ends the request on the server too, stream: %s', async stream => {
    const server = await openFaulty(stream ? steps.eventsThenSilence(piece('a')) : steps.nothing);
    const front = await openFront([server.url], 'm');
    const url = await front.listen();
    const caller = new AbortController();
    const sent = fetch(url + CHAT_PATH, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: MESSAGES, stream }),
      signal: caller.signal,
    });
    sent.catch(() => undefined);
    await vi.waitFor(() => expect(passedTo(server)).toHaveLength(1), PATIENCE);
    if (stream) await (await sent).body!.getReader().read();
    caller.abort();
    await vi.waitFor(() => expect(server.leftCount).toBe(1), PATIENCE);
    await vi.waitFor(() => expect(front.services.reports).toMatchObject([{ outcome: 'aborted' }]), PATIENCE);
    expect(front.services.usages).toMatchObject([{ outputTokenCount: stream ? 1 : 0 }]);
  });

  it('and reads slowly slows the server', async () => {
    let written = 0;
    const text = piece('x'.repeat(65_536));
    const server = await openFaulty(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (; written < 1_000; written++)
        if (!response.write(text)) await new Promise(resolve => response.once('drain', resolve));
      response.end(DONE);
    });
    const front = await openFront([server.url], 'm');
    const reply = await fetch((await front.listen()) + CHAT_PATH, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: MESSAGES, stream: true }),
    });
    await new Promise(resolve => setTimeout(resolve, 500));
    expect(written).toBeLessThan(1_000);
    let size = 0;
    for await (const bytes of reply.body!) size += bytes.length;
    expect(size).toBeGreaterThan(1_000 * 65_536);
    expect(written).toBe(1_000);
  });
});
