import type { StoredResponse } from '@ortler/api';
import { responseObjectExamples } from '@ortler/schemas';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../../test/databases.ts';
import type { Database } from '../db/database.ts';
import { createResponseStore } from './responses.ts';

const DAY_MS = 86_400_000;

describeOnEveryDatabase('stored responses', ({ open }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(() => database.close(), DATABASE_HOOK_TIMEOUT_MS);

  const sample = (id: string, createdAtMs = 0): StoredResponse => ({
    id,
    owner: 'acme',
    createdAtMs,
    previousId: null,
    input: [{ type: 'message', role: 'user', content: 'a\u0000b' }],
    response: responseObjectExamples.valid[0] as unknown as StoredResponse['response'],
  });

  it('are found by their owner alone, as they were saved', async () => {
    const store = createResponseStore(database, { retentionDays: 1, now: () => 0 });
    await store.save(sample('resp_1'));
    expect(await store.find('resp_1', 'acme')).toEqual(sample('resp_1'));
    expect(await store.find('resp_1', 'other')).toBeUndefined();
    expect(await store.remove('resp_1', 'other')).toBe(false);
    expect(await store.remove('resp_1', 'acme')).toBe(true);
    expect(await store.find('resp_1', 'acme')).toBeUndefined();
  });

  it('are not found by an id that no database stores', async () => {
    const store = createResponseStore(database, { retentionDays: 1, now: () => 0 });
    expect(await store.find('resp_\0', 'acme')).toBeUndefined();
    expect(await store.remove('resp_\0', 'acme')).toBe(false);
  });

  it('are gone after their days, and deleted when others are saved', async () => {
    let nowMs = 0;
    const store = createResponseStore(database, { retentionDays: 2, now: () => nowMs });
    await store.save(sample('resp_2'));
    nowMs = 2 * DAY_MS + 1;
    expect(await store.find('resp_2', 'acme')).toBeUndefined();
    await store.save(sample('resp_3', nowMs));
    const rows = await database.db.selectFrom('responses').select('id').execute();
    expect(rows.map(({ id }) => id)).toEqual(['resp_3']);
  });

  it('are deleted a hundred at a time, until few are left, also after the clock was set back', async () => {
    await database.db.deleteFrom('responses').execute();
    let nowMs = 0;
    const store = createResponseStore(database, { retentionDays: 1, now: () => nowMs });
    const count = async () => (await database.db.selectFrom('responses').select('id').execute()).length;
    const old = { owner: 'acme', created_at: 0, previous_id: null, input: '[]', response: '{}' };
    const addOld = (ids: readonly string[]) =>
      database.db
        .insertInto('responses')
        .values(ids.map(id => ({ ...old, id })))
        .execute();
    await addOld(Array.from({ length: 150 }, (_, index) => `old_${index}`));
    nowMs = 9 * DAY_MS;
    await store.save(sample('new_1', nowMs));
    expect(await count()).toBe(51);
    await store.save(sample('new_2', nowMs));
    expect(await count()).toBe(2);
    await addOld(['old']);
    await store.save(sample('new_3', nowMs));
    expect(await count()).toBe(4);
    nowMs = 2 * DAY_MS;
    await store.save(sample('new_4', nowMs));
    expect(await count()).toBe(4);
  });
});
