import { NO_LIMITS, RateLimiter, type RateLimits } from '@ortler/api';
import { createOrtlerClient } from '@ortler/api/client';
import { createFakeEngine, createFakeServices, TEST_API_KEY, teamApiKey } from '@ortler/api/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { AUTHORIZATION, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
afterEach(() => test.app.close());

async function open(
  perKey: Partial<RateLimits>,
  perTeam: Partial<RateLimits> = {},
  engine = createFakeEngine(),
) {
  const services = createFakeServices({ demo: engine });
  const clock = { nowMs: 0 };
  const limits = new RateLimiter({
    perKey: { ...NO_LIMITS, ...perKey },
    perTeam: { ...NO_LIMITS, ...perTeam },
    now: () => clock.nowMs,
  });
  test = await openTestApp({ ...services, limits });
  return { clock, services };
}
const chat = { messages: MESSAGES };

describe('rate limits', () => {
  it('refuse with the error and the headers of OpenAI, and a pause', async () => {
    await open({ requestsPerMinute: 2 });
    const first = await test.post(chat);
    expect(first.statusCode).toBe(200);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '30s',
    });
    expect((await test.post(chat)).headers['x-ratelimit-remaining-requests']).toBe('0');
    const refused = await test.post(chat);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(30);
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1m0s',
    });
    expect(refused.json()).toEqual({
      error: {
        message: 'Rate limit reached: this key may send 2 requests per minute.',
        type: 'requests',
        param: null,
        code: 'rate_limit_exceeded',
      },
    });
  });

  it('count the tokens of prompts and answers, streamed ones too', async () => {
    const { clock } = await open({ tokensPerMinute: 60 });
    const streamed = await test.post({ ...chat, stream: true });
    expect(streamed.headers['x-ratelimit-remaining-tokens']).toBe('60');
    const { usage } = (await test.post(chat)).json();
    const next = await test.post(chat);
    const used = 2 * usage.total_tokens;
    if (used < 60) expect(next.headers['x-ratelimit-remaining-tokens']).toBe(String(60 - used));
    while ((await test.post(chat)).statusCode === 200);
    expect((await test.post(chat)).json().error).toMatchObject({
      type: 'tokens',
      code: 'rate_limit_exceeded',
    });
    clock.nowMs = 60_000;
    expect((await test.post(chat)).statusCode).toBe(200);
  });

  it('hold over tRPC as over REST, with the same counts', async () => {
    await open({ requestsPerMinute: 2 });
    const client = createOrtlerClient({ url: await test.listen(), apiKey: TEST_API_KEY });
    await client.models.list.query();
    await test.post(chat);
    await expect(client.chat.complete.mutate(chat)).rejects.toMatchObject({
      // Its replies are streams, whose headers are sent before the calls are answered.
      data: {
        httpStatus: 429,
        reason: 'rate_limit_requests',
        retryAfterMs: expect.toSatisfy(Number.isInteger),
      },
    });
    const refused = await test.app.inject({
      url: '/trpc/models.list',
      headers: { authorization: AUTHORIZATION },
    });
    expect(refused.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '0' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(30);
  });

  it('bound the open requests of a team, until their streams end', async () => {
    const mayEnd = Promise.withResolvers<void>();
    const engine = createFakeEngine({ pieces: ['a'], beforeToken: () => mayEnd.promise });
    await open({}, { concurrency: 1 }, engine);
    const url = await test.listen();
    const send = (key: string, stream: boolean) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...chat, stream }),
      });
    const streaming = await send(teamApiKey('acme'), true);
    expect(streaming.status).toBe(200);
    expect((await send(teamApiKey('acme'), false)).status).toBe(429);
    const other = await send(teamApiKey('beta'), true);
    expect(other.status).toBe(200);
    mayEnd.resolve();
    await Promise.all([streaming.text(), other.text()]);
    await expect.poll(async () => (await send(teamApiKey('acme'), false)).status).toBe(200);
  });

  it('cost nothing without a limit: no headers', async () => {
    await open({});
    const { headers } = await test.app.inject({
      url: '/v1/models',
      headers: { authorization: AUTHORIZATION },
    });
    expect(Object.keys(headers).filter(name => name.startsWith('x-ratelimit'))).toEqual([]);
  });
});
