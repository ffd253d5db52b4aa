import { NO_LIMITS, RateLimiter } from '@ortler/api';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../../../test/databases.ts';
import type { Database } from '../../db/database.ts';
import { type SharedLimits, shareLimits } from './shared-limits.ts';

const KEY = { keyId: 'k', team: 'acme' };
const PATIENCE = { timeout: 20_000, interval: 20 };

describeOnEveryDatabase('shared rate limits', ({ name, open }) => {
  // SQLite has one server.
  if (name === 'sqlite') return it('are no matter of SQLite', () => expect(name).toBe('sqlite'));
  let database: Database;
  let failures: unknown[];
  let shared: SharedLimits[];

  beforeEach(async () => {
    database = await open();
    failures = [];
    shared = [];
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterEach(async () => {
    for (const each of shared) await each.close();
    await database.close();
  });

  async function createServer(
    requestsPerMinute: number | null,
    tokensPerMinute: number | null = null,
    now = Date.now,
  ) {
    const perTeam = { ...NO_LIMITS, requestsPerMinute, tokensPerMinute };
    // A clock that stands still refills nothing.
    const atMs = Date.now();
    const limiter = new RateLimiter({ perKey: NO_LIMITS, perTeam, now: () => atMs });
    const options = { now, onChange: (failure: unknown) => void failures.push(failure) };
    shared.push(await shareLimits(database, limiter, options));
    return limiter;
  }
  const left = (limiter: RateLimiter, kind = 'requests') =>
    Number(limiter.admit(KEY).headers[`x-ratelimit-remaining-${kind}`]);
  const admitUntilRefused = (limiter: RateLimiter) => {
    for (let count = 0; ; count++) {
      try {
        limiter.admit(KEY);
      } catch {
        return count;
      }
    }
  };

  it('count the requests of all servers', async () => {
    const [one, two] = [await createServer(100), await createServer(100)];
    for (let count = 0; count < 30; count++) one.admit(KEY);
    expect(left(two)).toBe(99);
    await vi.waitFor(() => {
      // Each look is a request too.
      two.admit(KEY);
      expect(left(two)).toBeLessThan(70);
    }, PATIENCE);
    const atTwo = 100 - left(two);
    await vi.waitFor(() => expect(left(one)).toBeLessThan(100 - atTwo), PATIENCE);
    admitUntilRefused(one);
    await vi.waitFor(() => expect(admitUntilRefused(two)).toBe(0), PATIENCE);
    expect(failures).toEqual([]);
  });

  it('count tokens, and each use once', async () => {
    const [one, two] = [await createServer(null, 1_000), await createServer(null, 1_000)];
    two.admit(KEY);
    one.charge(KEY, 300);
    await vi.waitFor(() => expect(left(two, 'tokens')).toBe(700), PATIENCE);
    // Some rounds later it is still counted once.
    one.charge(KEY, 1);
    await vi.waitFor(() => expect(left(two, 'tokens')).toBe(699), PATIENCE);
    expect(left(one, 'tokens')).toBe(699);
  });

  it('are all known to a server whose clock was set back', async () => {
    let backMs = 0;
    const two = await createServer(100, null, () => Date.now() - backMs);
    const one = await createServer(100);
    for (let count = 0; count < 40; count++) one.admit(KEY);
    const count = async () => {
      const { rows } = await sql<{ used: number }>`
        update rate_limit_uses set at = now() - interval '30 seconds' returning request_count as used`.execute(
        database.db,
      );
      return rows.reduce((sum, { used }) => sum + used, 0);
    };
    await vi.waitFor(async () => expect(await count()).toBe(40), PATIENCE);
    backMs = 3_600_000;
    two.admit(KEY);
    const seen = () => Number(two.headersOf(KEY)['x-ratelimit-remaining-requests']);
    await vi.waitFor(() => expect(seen()).toBeLessThan(60), { timeout: 5_000 });
  });

  it('are known to a server that starts later', async () => {
    const one = await createServer(100);
    for (let count = 0; count < 40; count++) one.admit(KEY);
    for (const each of shared.splice(0)) await each.close();
    expect(left(await createServer(100))).toBe(59);
  });
});
