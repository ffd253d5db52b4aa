import { createFakeServices } from '@ortler/api/testing';
import { afterEach, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';
import { type MetricsServer, startMetricsServer } from './metrics-server.ts';

let server: MetricsServer;
afterEach(() => server.close());

const start = async (key?: string) => {
  server = await startMetricsServer(createMetrics(createFakeServices().models), {
    host: '127.0.0.1',
    port: 0,
    key,
  });
  return (headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(server.url, { headers, ...init });
};

it('serves the metrics on a port of its own, to no page of a browser', async () => {
  const get = await start();
  const reply = await get({ origin: 'https://evil.example' });
  expect(reply.status).toBe(200);
  expect(await reply.text()).toContain('process_resident_memory_bytes');
  expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  expect((await get({}, { method: 'POST' })).status).toBe(405);
  expect((await fetch(new URL('/health', server.url))).status).toBe(404);
});

it('asks for its key, as a bearer token or the password of Basic credentials', async () => {
  const get = await start('scrape');
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const status = async (authorization?: string) =>
    (await get(authorization === undefined ? {} : { authorization })).status;
  expect(await status()).toBe(401);
  expect(await status('Bearer wrong')).toBe(401);
  expect(await status('Bearer scrape')).toBe(200);
  expect(await status(basic('prometheus:scrape'))).toBe(200);
  expect(await status(basic('scrape:wrong'))).toBe(401);
});
