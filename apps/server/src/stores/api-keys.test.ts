import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../../test/databases.ts';
import type { Database } from '../db/database.ts';
import { type ApiKeyStore, createApiKeyStore } from './api-keys.ts';
import { addKey } from './key-registry.ts';

describeOnEveryDatabase('the key store', ({ open: openTestDatabase }) => {
  let database: Database;

  beforeAll(async () => {
    database = await openTestDatabase();
  }, DATABASE_HOOK_TIMEOUT_MS);
  beforeEach(() => database.db.deleteFrom('api_keys').execute());
  afterAll(() => database.close(), DATABASE_HOOK_TIMEOUT_MS);

  const opened: ApiKeyStore[] = [];
  afterEach(() => {
    for (const store of opened.splice(0)) store.close();
  });
  const openStore = async (bootstrapKey: string | undefined, now: () => number) => {
    const store = await createApiKeyStore(database, { bootstrapKey, now });
    opened.push(store);
    return store;
  };
  const open = (bootstrapKey?: string) => openStore(bootstrapKey, () => 0);

  it('makes one key on the first start and accepts it on later ones', async () => {
    const key = await (await open()).createFirstKey();
    expect(key).toMatch(/^ortler-[\w-]{43}$/);
    const later = await open();
    expect(await later.createFirstKey()).toBeNull();
    expect(await later.verifyBearer(key!)).toEqual({ keyId: expect.any(String) });
  });

  it('lists keys without their secrets, that of the configuration too', async () => {
    const store = await open('configured');
    const limits = { requestsPerMinute: 5, concurrency: 0 };
    const { id, key } = await addKey(database, { name: 'trainer', team: 'acme', limits }, 1_000);
    const listed = (await open('configured')).list();
    expect(store.list()).toHaveLength(1);
    expect(listed).toEqual([
      { id: 'configuration', name: 'ORTLER_API_KEY', team: null, createdAt: null, limits: {} },
      {
        id,
        name: 'trainer',
        team: 'acme',
        createdAt: '1970-01-01T00:00:01.000Z',
        limits: { requestsPerMinute: 5, concurrency: null },
      },
    ]);
    expect(JSON.stringify(listed)).not.toContain(key);
  });

  it('refuses every other key', async () => {
    const store = await open();
    const key = (await store.createFirstKey())!;
    for (const wrong of ['', 'x', key.slice(0, -1), `${key}x`, key.toUpperCase()])
      expect(await store.verifyBearer(wrong)).toBeNull();
  });

  describe('beside another process', () => {
    let nowMs: number;
    const openAt = async () => {
      nowMs = 0;
      return openStore(undefined, () => nowMs);
    };
    const countQueries = () => vi.spyOn(database.reader, 'selectFrom').mockClear();
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
    afterEach(() => {
      vi.useRealTimers();
      vi.restoreAllMocks();
    });

    it('accepts a key that the other stored, a second later', async () => {
      const store = await openAt();
      const key = (await (await open()).createFirstKey())!;
      expect(await store.verifyBearer(key)).toBeNull();
      nowMs = 1_000;
      expect(await store.verifyBearer(key)).toEqual({ keyId: expect.any(String) });
    });

    it('asks the database once a second, however many wrong keys come', async () => {
      const store = await openAt();
      const queries = countQueries();
      for (nowMs = 0; nowMs < 3_000; nowMs += 100)
        await Promise.all([1, 2, 3].map(key => store.verifyBearer(`wrong-${nowMs}-${key}`)));
      expect(queries).toHaveBeenCalledTimes(2);
    });

    it('refuses a key that the other removed, at the next look half a second later', async () => {
      const key = (await (await open()).createFirstKey())!;
      const store = await openAt();
      await database.db.deleteFrom('api_keys').execute();
      vi.advanceTimersByTime(500);
      await vi.waitFor(async () => expect(await store.verifyBearer(key)).toBeNull(), 20_000);
    });

    it('refuses it also where another key took its place', async () => {
      const key = (await (await open()).createFirstKey())!;
      const store = await openAt();
      vi.advanceTimersByTime(500);
      // The first look has ended when its reading of all keys has.
      await vi.waitFor(async () => expect(await store.verifyBearer(key)).not.toBeNull(), 20_000);
      await database.db.deleteFrom('api_keys').execute();
      const other = (await (await open()).createFirstKey())!;
      await vi.waitFor(async () => {
        vi.advanceTimersByTime(500);
        expect(await store.verifyBearer(key)).toBeNull();
        expect(await store.verifyBearer(other)).not.toBeNull();
      }, 20_000);
    });

    it('refuses it also where all keys were just being read for a wrong one', async () => {
      const { key } = await addKey(database, { name: 'trainer', team: null }, 0);
      const store = await openAt();
      const rows = await database.db.selectFrom('api_keys').selectAll().execute();
      const slow = Promise.withResolvers<typeof rows>();
      const query = { selectAll: () => query, orderBy: () => query, execute: () => slow.promise };
      const queries = countQueries().mockImplementationOnce(() => query as never);
      nowMs = 1_000;
      const wrong = store.verifyBearer('wrong');
      await database.db.deleteFrom('api_keys').execute();
      vi.advanceTimersByTime(500);
      // One look, or two on a busy machine.
      expect(queries.mock.calls.length).toBeGreaterThan(1);
      // Answered after the look that began before it.
      await database.reader.selectFrom('api_keys').select('id').execute();
      slow.resolve(rows);
      await wrong;
      await vi.waitFor(async () => {
        vi.advanceTimersByTime(500);
        expect(await store.verifyBearer(key)).toBeNull();
      }, 5_000);
    });

    it('refuses it also where it was made, used and removed between two looks', async () => {
      const store = await openAt();
      const queries = countQueries();
      vi.advanceTimersByTime(500);
      await vi.waitFor(() => expect(queries).toHaveBeenCalled());
      // Readings of SQLite and PGlite end in their order.
      for (let count = 0; count < 3; count++)
        await database.reader.selectFrom('api_keys').select('id').execute();
      const { key } = await addKey(database, { name: 'brief', team: null }, 0);
      nowMs = 1_000;
      expect(await store.verifyBearer(key)).not.toBeNull();
      await database.db.deleteFrom('api_keys').execute();
      await vi.waitFor(async () => {
        vi.advanceTimersByTime(500);
        expect(await store.verifyBearer(key)).toBeNull();
      }, 5_000);
    });

    it('answers a known key from memory, while a write transaction is open', async () => {
      const key = (await (await open()).createFirstKey())!;
      const store = await openAt();
      vi.advanceTimersByTime(499);
      const release = Promise.withResolvers<void>();
      const writing = database.transaction(() => release.promise);
      vi.advanceTimersByTime(60_000);
      expect(await store.verifyBearer(key)).not.toBeNull();
      release.resolve();
      await writing;
    });

    it('keeps known keys, but accepts no others, while the database does not answer', async () => {
      const key = (await (await open()).createFirstKey())!;
      const store = await openAt();
      countQueries().mockImplementation(() => {
        throw new Error('no connection');
      });
      vi.advanceTimersByTime(20_000);
      expect(await store.verifyBearer(key)).not.toBeNull();
      nowMs = 20_000;
      await expect(store.verifyBearer('other')).rejects.toThrow('no connection');
    });
  });

  it('stores no key, only its hash', async () => {
    const key = (await (await open()).createFirstKey())!;
    const rows = await database.db.selectFrom('api_keys').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(key.slice('ortler-'.length));
  });

  it('accepts the configured key without storing it, and then makes none', async () => {
    const store = await open('from-environment');
    expect(await store.verifyBearer('from-environment')).toEqual({ keyId: 'configuration' });
    expect(await store.createFirstKey()).toBeNull();
    expect(await (await open()).verifyBearer('from-environment')).toBeNull();
  });

  it('makes only one first key when two servers start at once', async () => {
    const stores = [await open(), await open()];
    const keys = await Promise.all(stores.map(store => store.createFirstKey()));
    const [key] = keys.filter(made => made !== null);
    expect(keys).toContain(null);
    for (const store of stores) expect(await store.verifyBearer(key!)).not.toBeNull();
  });
});
