import { expect, it } from 'vitest';
import type { RateLimits } from '../ports/rate-limiting.ts';
import { NO_LIMITS, RateLimiter, toDuration } from './rate-limiter.ts';

function createLimiter(perKey: Partial<RateLimits>, perTeam: Partial<RateLimits> = {}) {
  const clock = { nowMs: 0 };
  const limiter = new RateLimiter({
    perKey: { ...NO_LIMITS, ...perKey },
    perTeam: { ...NO_LIMITS, ...perTeam },
    now: () => clock.nowMs,
  });
  return { limiter, clock };
}
const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return error as { reason: string; retryAfterMs: number; message: string };
  }
  throw new Error('nothing was refused');
};
const KEY = { keyId: 'k' };

it('limits requests per minute and lets them in again as time passes', () => {
  const { limiter, clock } = createLimiter({ requestsPerMinute: 60 });
  for (let count = 0; count < 60; count++) limiter.admit(KEY);
  const { reason, retryAfterMs } = refusal(() => limiter.admit(KEY));
  expect(reason).toBe('rate_limit_requests');
  expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
  expect(retryAfterMs).toBeLessThan(2_000);
  clock.nowMs = 1_000;
  limiter.admit(KEY);
  expect(refusal(() => limiter.admit(KEY)).reason).toBe('rate_limit_requests');
  // Another key has its own.
  limiter.admit({ keyId: 'other' });
});

it('limits tokens per minute after they were used', () => {
  const { limiter, clock } = createLimiter({ tokensPerMinute: 1_000 });
  limiter.admit(KEY);
  limiter.charge(KEY, 1_500);
  expect(refusal(() => limiter.admit(KEY)).reason).toBe('rate_limit_tokens');
  clock.nowMs = 30_000;
  expect(refusal(() => limiter.admit(KEY)).reason).toBe('rate_limit_tokens');
  clock.nowMs = 31_000;
  limiter.admit(KEY);
});

it('limits open requests until they end', () => {
  const { limiter } = createLimiter({ concurrency: 2 });
  const first = limiter.admit(KEY);
  limiter.admit(KEY);
  expect(refusal(() => limiter.admit(KEY)).message).toContain('2 requests open');
  first.release();
  first.release();
  limiter.admit(KEY);
  expect(refusal(() => limiter.admit(KEY)).reason).toBe('rate_limit_requests');
});

it('limits the keys of a team together', () => {
  const { limiter } = createLimiter({}, { requestsPerMinute: 2 });
  limiter.admit({ keyId: 'a', team: 'acme' });
  limiter.admit({ keyId: 'b', team: 'acme' });
  expect(refusal(() => limiter.admit({ keyId: 'a', team: 'acme' })).message).toContain('this team');
  limiter.admit({ keyId: 'c', team: 'beta' });
  limiter.admit({ keyId: 'no team' });
});

it('takes the limits of the key before the default', () => {
  const { limiter } = createLimiter({ requestsPerMinute: 1_000 });
  const own = { keyId: 'own', limits: { requestsPerMinute: 1 } };
  limiter.admit(own);
  expect(refusal(() => limiter.admit(own)).message).toContain('1 requests per minute');
});

it('reports what is left in the headers of OpenAI, for the tightest limit', () => {
  const { limiter } = createLimiter(
    { requestsPerMinute: 60, tokensPerMinute: 600 },
    { requestsPerMinute: 6 },
  );
  const member = { keyId: 'k', team: 'acme' };
  limiter.charge(member, 100);
  expect(limiter.admit(member).headers).toEqual({
    'x-ratelimit-limit-requests': '6',
    'x-ratelimit-remaining-requests': '5',
    'x-ratelimit-reset-requests': '10s',
    'x-ratelimit-limit-tokens': '600',
    'x-ratelimit-remaining-tokens': '500',
    'x-ratelimit-reset-tokens': '10s',
  });
  expect(createLimiter({}).limiter.admit(member).headers).toEqual({});
});

it('counts a refused request nowhere', () => {
  const { limiter } = createLimiter({ requestsPerMinute: 10 }, { concurrency: 1 });
  const member = { keyId: 'k', team: 'acme' };
  const { release } = limiter.admit(member);
  for (let count = 0; count < 20; count++) refusal(() => limiter.admit(member));
  release();
  expect(limiter.admit(member).headers['x-ratelimit-remaining-requests']).toBe('8');
});

it('counts what other servers counted, before and after an account is used here', () => {
  const { limiter, clock } = createLimiter({ requestsPerMinute: 60, tokensPerMinute: 600 });
  limiter.share();
  clock.nowMs = 100_000;
  const use = (atMs: number) => ({ account: 'key k', requestCount: 30, tokenCount: 100, atMs });
  // 30 requests of ten seconds ago: ten are refilled; those of two minutes ago are forgotten.
  limiter.countElsewhere([use(-20_000), use(90_000)]);
  expect(limiter.admit(KEY).headers).toMatchObject({
    'x-ratelimit-remaining-requests': '39',
    'x-ratelimit-remaining-tokens': '600',
  });
  limiter.countElsewhere([use(100_000)]);
  limiter.charge(KEY, 7);
  expect(limiter.admit(KEY).headers).toMatchObject({
    'x-ratelimit-remaining-requests': '8',
    'x-ratelimit-remaining-tokens': '493',
  });
  // Only what was counted here is told.
  expect(limiter.takeUses()).toEqual([{ account: 'key k', requestCount: 2, tokenCount: 7 }]);
  expect(limiter.takeUses()).toEqual([]);
});

it('writes durations as OpenAI does', () => {
  expect([0, 20, 1_500, 60_000, 359_500].map(toDuration)).toEqual(['0ms', '20ms', '1.5s', '1m0s', '6m0s']);
});
