import { createFakeEngine, createFakeServices } from '@ortler/api/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { reportHealth } from '../src/system/health.ts';
import { AUTHORIZATION, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
afterEach(() => test.app.close());

const loading = { kind: 'loading', detail: 'building 10%' } as const;
const restarting = {
  kind: 'restarting',
  detail: 'loading failed and is retried',
  retryAfterMs: 3_100,
} as const;
const failed = { kind: 'failed', detail: '/secret/folder is broken' } as const;

describe('/health', () => {
  it.each([
    [{ a: createFakeEngine() }, 200, 'ok', ['ready']],
    [{ a: createFakeEngine(), b: failed }, 200, 'degraded', ['ready', 'failed']],
    [{ a: createFakeEngine(), b: loading }, 200, 'degraded', ['ready', 'loading']],
    [{ a: loading, b: failed }, 503, 'loading', ['loading', 'failed']],
    [{ a: failed }, 503, 'unavailable', ['failed']],
    [{ a: createFakeEngine(), b: restarting }, 200, 'degraded', ['ready', 'restarting']],
    [{ a: restarting, b: failed }, 503, 'unavailable', ['restarting', 'failed']],
    [{ a: createFakeEngine({ health: { state: 'restarting' } }) }, 503, 'unavailable', ['restarting']],
  ])('tells the state of every model: %#', async (models, code, status, states) => {
    test = await openTestApp(createFakeServices(models));
    for (const url of ['/health', '/ping']) {
      const reply = await test.app.inject(url);
      expect(reply.statusCode).toBe(code);
      const body = reply.json<{ status: string; models: { state: string }[] }>();
      expect(body.status).toBe(status);
      expect(body.models.map(({ state }) => state)).toEqual(states);
      expect(reply.body).not.toContain('/secret');
      expect(reply.headers['retry-after']).toBe(code === 503 ? '2' : undefined);
    }
  });
});

it.each([
  ['ready', 'ok', 200, 'ok', { status: 'ready' }],
  ['ready', 'full', 200, 'degraded', { status: 'ready' }],
  ['corrupt', 'ok', 200, 'degraded', { status: 'not_ready', missing: ['database'] }],
  ['lost', 'missing', 200, 'degraded', { status: 'not_ready', missing: ['database'] }],
] as const)(
  'tells faults of storage in /health and /health/ready: database %s, disk %s',
  async (condition, state, code, status, readiness) => {
    test = await openTestApp(createFakeServices(), undefined, {
      storage: {
        databases: [{ name: 'sqlite', isMain: true, condition: async () => condition }],
        disk: async () => ({ state, free_bytes: 5 }),
      },
    });
    const health = await test.app.inject('/health');
    expect(health.statusCode).toBe(code);
    expect(health.json()).toMatchObject({
      status,
      disk: { state, free_bytes: 5 },
      databases: [{ name: 'sqlite', state: condition }],
    });
    const ready = await test.app.inject('/health/ready');
    expect(ready.statusCode).toBe(readiness.status === 'ready' ? 200 : 503);
    expect(ready.headers['retry-after']).toBe(readiness.status === 'ready' ? undefined : '2');
    expect(ready.json()).toEqual(readiness);
    expect((await test.app.inject('/health/live')).json()).toEqual({ status: 'alive' });
  },
);

it('is alive but not ready while no model answers', async () => {
  test = await openTestApp(createFakeServices({ a: loading }));
  expect((await test.app.inject('/health/live')).statusCode).toBe(200);
  const ready = await test.app.inject('/health/ready');
  expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'not_ready', missing: ['models'] }]);
});

it('reports in /health the device of the models, once it is chosen', () => {
  const catalog = createFakeServices().models;
  expect(reportHealth(catalog)).not.toHaveProperty('device');
  const facts = {
    device: 'webgpu',
    name: 'Some GPU',
    memoryBytes: 8e9,
    maxTensorBytes: 2e9,
    isSoftware: false,
  } as const;
  expect(reportHealth(catalog, { device: { device: 'webgpu', facts } }).device).toEqual({
    kind: 'webgpu',
    name: 'Some GPU',
    memory_bytes: 8e9,
    max_tensor_bytes: 2e9,
    is_software: false,
  });
  const note = 'The GPU cannot be used: no driver';
  expect(reportHealth(catalog, { device: { device: 'cpu', note } }).device).toEqual({
    kind: 'cpu',
    detail: note,
  });
});

it('reports in /health which operators of a model run on the CPU, and which chat template is broken', () => {
  const deviceNote = 'The device "webgpu" has no kernels for MatMulInteger (3).';
  const templateNote = 'The chat template cannot be parsed at line 2.';
  const engine = createFakeEngine({ info: { deviceNote, templateNote }, health: { restartCount: 2 } });
  expect(reportHealth(createFakeServices({ a: engine }).models).models).toEqual([
    { id: 'a', state: 'ready', detail: `restarted 2 times; ${deviceNote}; ${templateNote}` },
  ]);
});

it('reports in /health that loading is retried, and when', () => {
  expect(reportHealth(createFakeServices({ a: restarting }).models).models).toEqual([
    {
      id: 'a',
      state: 'restarting',
      detail: 'loading failed and is retried within 4 s; the server log has the reason',
    },
  ]);
});

it('reports the version', async () => {
  test = await openTestApp();
  expect((await test.app.inject('/version')).json()).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
});

it('counts requests and tokens under the names of vLLM', async () => {
  test = await openTestApp();
  await test.post({ messages: MESSAGES, n: 2 });
  const { body } = await test.app.inject('/metrics');
  const labels = '{model_name="demo",engine="0"}';
  expect(body).toContain(`vllm:prompt_tokens_total${labels} 3`);
  expect(body).toContain(`vllm:generation_tokens_total${labels} 6`);
  expect(body).toContain('vllm:request_success_total{model_name="demo",engine="0",finished_reason="stop"} 2');
  expect(body).toContain(`vllm:num_requests_running${labels} 0`);
  expect(body).toContain(`vllm:e2e_request_latency_seconds_count${labels} 1`);
  expect(body).toContain(`vllm:request_time_per_output_token_seconds_count${labels} 1`);
  expect(body).toContain(`vllm:inter_token_latency_seconds_count${labels} 4`);
  expect(body).toContain(`vllm:request_max_num_generation_tokens_sum${labels} 3`);
});

it('initialises the series of every model to 0, so that the first request is an increase', async () => {
  test = await openTestApp();
  const { body } = await test.app.inject('/metrics');
  const labels = 'model_name="demo",engine="0"';
  expect(body).toContain(`vllm:generation_tokens_total{${labels}} 0`);
  expect(body).toContain(`vllm:request_success_total{${labels},finished_reason="length"} 0`);
  expect(body).toContain(`vllm:time_to_first_token_seconds_bucket{le="+Inf",${labels}} 0`);
  // Counted once: a scrape does not reset counters.
  await test.post({ messages: MESSAGES });
  const { body: later } = await test.app.inject('/metrics');
  expect(later).toContain(`vllm:time_to_first_token_seconds_count{${labels}} 1`);
});

it('reports queue, prefill, decode and inference times in /metrics', async () => {
  const timing = { queuedMs: 250, prefillMs: 1_000 };
  test = await openTestApp(createFakeServices({ demo: createFakeEngine({ timing, decodeMs: 3_000 }) }));
  await test.post({ messages: MESSAGES });
  const { body } = await test.app.inject('/metrics');
  for (const [name, seconds] of [
    ['queue', 0.25],
    ['prefill', 1],
    ['decode', 3],
    ['inference', 4],
  ])
    expect(body).toContain(
      `vllm:request_${name}_time_seconds_sum{model_name="demo",engine="0"} ${seconds}\n`,
    );
});

it('omits times that the engine does not report', async () => {
  test = await openTestApp();
  await test.post({ messages: MESSAGES });
  const { body } = await test.app.inject('/metrics');
  expect(body).toContain('vllm:e2e_request_latency_seconds_count{model_name="demo",engine="0"} 1');
  expect(body).not.toMatch(/^vllm:request_(queue|prefill|decode|inference)_time_seconds_count\{.*\} [^0]/m);
});

it("reports the engine's counts of prefix caching, preemption and speculative decoding under the names of vLLM", async () => {
  const stats = {
    runningCount: 2,
    waitingCount: 1,
    freeSlotCount: 6,
    cacheUsedShare: 0.25,
    stepCount: 40,
    preemptionCount: 3,
    cacheQueryTokenCount: 500,
    cacheHitTokenCount: 480,
    draftedTokenCount: 20,
    acceptedTokenCount: 15,
    stepSizes: { counts: [], tokenCount: 0 },
    deviceSampling: { rowCount: 900, fetchedRowCount: 7, readBytes: 70_000 },
  };
  test = await openTestApp(createFakeServices({ demo: createFakeEngine({ health: { stats } }) }));
  // Scraped twice: the counts are the engine's, not added up by scrapes.
  await test.app.inject('/metrics');
  const { body } = await test.app.inject('/metrics');
  const labels = '{model_name="demo",engine="0"}';
  expect(body).toContain(`vllm:num_requests_running${labels} 2`);
  expect(body).toContain(`vllm:num_requests_waiting${labels} 1`);
  expect(body).toContain(`vllm:kv_cache_usage_perc${labels} 0.25`);
  expect(body).toContain(`vllm:num_preemptions_total${labels} 3`);
  expect(body).toContain(`vllm:prefix_cache_queries_total${labels} 500`);
  expect(body).toContain(`vllm:prefix_cache_hits_total${labels} 480`);
  expect(body).toContain(`vllm:spec_decode_num_draft_tokens_total${labels} 20`);
  expect(body).toContain(`vllm:spec_decode_num_accepted_tokens_total${labels} 15`);
  expect(body).toContain(`ortler:device_sampled_rows_total${labels} 900`);
  expect(body).toContain(`ortler:device_fetched_rows_total${labels} 7`);
  expect(body).toContain(`ortler:device_read_bytes_total${labels} 70000`);
  for (const name of ['vllm:prefix_cache_hits_total', 'ortler:device_read_bytes_total'])
    expect(body).toContain(`# TYPE ${name} counter`);
});

it('counts answered requests by route, never by path', async () => {
  test = await openTestApp();
  const get = (url: string) => test.app.inject({ url, headers: { authorization: AUTHORIZATION } });
  await test.post({ messages: [] });
  for (const url of [
    '/v1/models',
    '/v1/models?a=b',
    '/v1/models/some-model',
    '/health',
    '/v1/nothing/7',
    '/v1/nothing/8',
  ])
    await get(url);
  await get('/trpc/models.list');
  const lines = (await get('/metrics')).body
    .split('\n')
    .filter(line => line.startsWith('http_requests_total'));
  const counted = lines.map(line =>
    /method="(.+)",handler="(.+)",status="(.+)"\} (\d+)/.exec(line)!.slice(1),
  );
  expect(counted.toSorted()).toEqual([
    ['GET', '/*', '4xx', '2'],
    ['GET', '/health', '2xx', '1'],
    ['GET', '/trpc/:path', '2xx', '1'],
    ['GET', '/v1/models', '2xx', '2'],
    ['GET', '/v1/models/{model_id}', '4xx', '1'],
    ['POST', '/v1/chat/completions', '4xx', '1'],
  ]);
});

it('measures its own process', async () => {
  test = await openTestApp();
  const { body } = await test.app.inject('/metrics');
  const measured = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(body)![1]);
  expect(measured('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  expect(measured('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(measured('process_start_time_seconds')).toBeGreaterThan(1.7e9);
});

it('serves the docs page and its script locally', async () => {
  test = await openTestApp();
  expect((await test.app.inject('/docs')).headers.location).toBe('docs/');
  const page = await test.app.inject('/docs/');
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('/openapi.json');
  expect(page.body).toContain('"proxyUrl":""');
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect((await test.app.inject('/docs/?from=a-link')).body).toBe(page.body);
  // Nothing is loaded from other hosts, nor from paths outside the prefix of a proxy.
  for (const [, target] of page.body.matchAll(/(?:src|href)="([^"]+)"/g))
    expect(target).toMatch(/^(data:|js\/)/);
  const [, script] = /<script[^>]* src="([^"]+)"/.exec(page.body)!;
  expect(script).not.toMatch(/^(https?:)?\/\//);
  const file = await test.app.inject(new URL(script!, 'http://x/docs/').pathname);
  expect(file.statusCode).toBe(200);
  expect(file.body.length).toBeGreaterThan(1_000_000);
}, 20_000);

it.each(['/server_info', '/get_server_info'])(
  'tells routers the default model and its limits: %s',
  async path => {
    test = await openTestApp(createFakeServices({ a: createFakeEngine(), b: createFakeEngine() }));
    const { contextLength, maxSequences, modelType } = createFakeEngine().info;
    const names = { model_path: 'a', served_model_name: 'a', tokenizer_path: 'a', is_generation: true };
    expect((await test.app.inject(path)).json()).toEqual({
      ...names,
      model_type: modelType,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      max_running_requests: maxSequences,
      context_length: contextLength,
    });
    const model = path.replace('server', 'model');
    expect((await test.app.inject(model)).json()).toEqual({ ...names, model_type: modelType });
  },
);

it('gives routers the name of a model that still loads, without its limits', async () => {
  test = await openTestApp(createFakeServices({ a: loading }));
  const reply = await test.app.inject('/server_info');
  expect(reply.statusCode).toBe(200);
  expect(reply.json()).toMatchObject({ served_model_name: 'a' });
  expect(reply.json()).not.toHaveProperty('context_length');
});

it('is not ready and not well once it is told to stop, but answers', async () => {
  let isStopping = false;
  test = await openTestApp(createFakeServices(), undefined, { isStopping: () => isStopping });
  expect((await test.app.inject('/health/ready')).statusCode).toBe(200);
  isStopping = true;
  for (const path of ['/health', '/health/ready', '/ping']) {
    const reply = await test.app.inject(path);
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({ status: 'stopping' });
  }
  expect((await test.app.inject('/health/live')).statusCode).toBe(200);
  expect((await test.post({ messages: MESSAGES })).statusCode).toBe(200);
});
