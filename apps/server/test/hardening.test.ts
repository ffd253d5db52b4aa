// What every request and reply has to keep to, whatever the route: hosts, headers that may come once, wrong keys, pages, metrics.

import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { ALLOWED_ORIGIN, AUTHORIZATION, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
afterEach(() => test.app.close());

const open = (options: Parameters<typeof openTestApp>[2] = {}) => openTestApp(undefined, undefined, options);

it.each(['/health', '/metrics', '/docs/', '/v1/models', '/trpc/models.list'])(
  '%s is not answered under the name of another site, which DNS rebinding would use',
  async url => {
    test = await open({ allowedHosts: ['llm.example.org'] });
    const get = (host: string) => test.app.inject({ url, headers: { host, authorization: AUTHORIZATION } });
    const reply = await get('attacker.example:8000');
    expect(reply.statusCode).toBe(403);
    expect(JSON.stringify(reply.json())).toContain('ORTLER_ALLOWED_HOSTS');
    for (const host of ['127.0.0.1:8000', 'localhost:8000', 'llm.example.org'])
      expect((await get(host)).statusCode).toBe(200);
  },
);

it('refuses two keys, of which proxies may see another one than the server', async () => {
  test = await open();
  const url = new URL('/v1/models', await test.listen());
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(url, {
      headers: ['Host', url.host, 'Authorization', AUTHORIZATION, 'Authorization', 'Bearer x'],
    });
    sent
      .once('response', reply => resolve(reply.resume().statusCode))
      .once('error', reject)
      .end();
  });
  expect(status).toBe(400);
});

it('answers wrong keys more and more slowly, and right ones at once', async () => {
  test = await open();
  const answered: string[] = [];
  const ask = async (name: string, authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    const { statusCode } = await test.app.inject({ url: '/v1/models', headers });
    answered.push(`${name} ${statusCode}`);
  };
  // Ten are answered at once, and the last one after more than a second: an order, as a busy machine makes every answer slow.
  const wrong = Array.from({ length: 16 }, () => ask('wrong', 'Bearer wrong'));
  await Promise.all(wrong.slice(0, 10));
  await Promise.all([ask('right', AUTHORIZATION), ask('none')]);
  await Promise.all(wrong);
  expect(answered.toSorted()).toEqual(['none 401', 'right 200', ...Array(16).fill('wrong 401')]);
  expect(answered.at(-1)).toBe('wrong 401');
  expect(answered.indexOf('right 200')).toBeLessThan(15);
});

it.each([
  ['a stream', '/trpc/models.list?batch=1', { 'trpc-accept': 'application/jsonl' }],
  ['a batch with another refusal', '/trpc/models.list,nothing?batch=1', {}],
  ['a subscription', '/trpc/server.load', {}],
])('answers wrong keys more and more slowly over tRPC, also in %s', async (_name, url, headers) => {
  test = await open();
  let answered = 0;
  const ask = async () => {
    await test.app.inject({ url, headers: { authorization: 'Bearer wrong', ...headers } });
    answered++;
  };
  for (let guess = 0; guess < 10; guess++) await ask();
  // The last of these waits more than a second. Requests without a key wait for nothing.
  const slow = Array.from({ length: 6 }, ask);
  for (let call = 0; call < 5; call++) await test.app.inject({ url, headers });
  expect(answered).toBeLessThan(16);
  await Promise.all(slow);
});

it('sends pages with a security policy, and every reply with its one content type', async () => {
  test = await open();
  const page = await test.app.inject('/docs/');
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'self'; script-src 'self' 'sha256-/);
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(page.headers['x-frame-options']).toBe('DENY');
  for (const url of ['/health', '/docs/', '/v1/models', '/trpc/models.list', '/nothing'])
    expect((await test.app.inject(url)).headers['x-content-type-options']).toBe('nosniff');
});

it('gives the metrics to no page of another site, and with a key to its bearer only', async () => {
  test = await open({ metricsAccess: { kind: 'key', key: 'scrape' } });
  const get = (authorization?: string) =>
    test.app.inject({
      url: '/metrics',
      headers: { origin: ALLOWED_ORIGIN, ...(authorization !== undefined && { authorization }) },
    });
  expect((await get()).statusCode).toBe(401);
  expect((await get(AUTHORIZATION)).statusCode).toBe(401);
  const reply = await get('Bearer scrape');
  expect(reply.statusCode).toBe(200);
  expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  expect(
    (await test.app.inject({ url: '/health', headers: { origin: ALLOWED_ORIGIN } })).headers,
  ).toHaveProperty('access-control-allow-origin');
});

it('has no metrics on the port of the API where they have a port of their own', async () => {
  test = await open({ metricsAccess: { kind: 'elsewhere' } });
  expect((await test.app.inject('/metrics')).statusCode).toBe(404);
});

it('compresses large answers for clients that accept it, and measures how long answers take', async () => {
  test = await open();
  const get = (headers: Record<string, string>) => test.app.inject({ url: '/openapi.json', headers });
  const plain = await get({});
  const packed = await get({ 'accept-encoding': 'gzip' });
  expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([
    undefined,
    'gzip',
  ]);
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
  const { body } = await test.app.inject('/metrics');
  expect(body).toContain('http_request_duration_seconds_count{method="GET",handler="/openapi.json"} 2');
});
