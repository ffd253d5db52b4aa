import { afterAll, beforeAll, expect, it } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../../test/databases.ts';
import type { Database } from '../db/database.ts';
import { createApiKeyStore } from './api-keys.ts';
import { addKey, KEY_PREFIX, listKeys, removeKey, TEAM_PATTERN } from './key-registry.ts';

describeOnEveryDatabase('the registry of keys', ({ open }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(() => database.close(), DATABASE_HOOK_TIMEOUT_MS);

  it('makes keys with and without a team, which the server lets in as such until they are removed', async () => {
    const own = await addKey(database, { name: 'operator', team: null }, 0);
    const ofTeam = await addKey(
      database,
      { name: 'trainer', team: 'acme', limits: { requestsPerMinute: 60, concurrency: 0 } },
      1_000,
    );
    expect(ofTeam.key).toMatch(/^ortler-[\w-]{43}$/);
    expect(await listKeys(database)).toEqual([
      { id: own.id, name: 'operator', team: null, createdAt: '1970-01-01T00:00:00.000Z', limits: {} },
      {
        id: ofTeam.id,
        name: 'trainer',
        team: 'acme',
        createdAt: '1970-01-01T00:00:01.000Z',
        limits: { requestsPerMinute: 60, concurrency: 0 },
      },
    ]);
    let nowMs = 0;
    const store = await createApiKeyStore(database, { bootstrapKey: undefined, now: () => nowMs });
    expect(await store.verifyBearer(own.key)).toEqual({ keyId: own.id });
    expect(await store.verifyBearer(ofTeam.key)).toEqual({
      keyId: ofTeam.id,
      team: 'acme',
      // 0 lifts the limit of the configuration.
      limits: { requestsPerMinute: 60, concurrency: null },
    });

    expect(await removeKey(database, ofTeam.id)).toBe(true);
    expect(await removeKey(database, ofTeam.id)).toBe(false);
    nowMs = 10_000;
    // An unknown key makes the store read again.
    expect(await store.verifyBearer('unknown')).toBeNull();
    expect(await store.verifyBearer(ofTeam.key)).toBeNull();
    store.close();
    const rows = await database.db.selectFrom('api_keys').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(own.key.slice(KEY_PREFIX.length));
  });
});

it('a team is named by a plain word that is no path', () => {
  for (const team of ['a', 'acme', 'Team-1', 'a.b_c', 'a..b', 'x'.repeat(64)])
    expect(TEAM_PATTERN.test(team)).toBe(true);
  for (const team of ['', '.', '..', '.a', '-a', 'a/b', 'a\\b', 'a:b', 'a b', 'ä', 'a\n', 'x'.repeat(65)])
    expect(TEAM_PATTERN.test(team)).toBe(false);
});
