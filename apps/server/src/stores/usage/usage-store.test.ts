import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UsageQuery, UsageRecord } from '@ortler/api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../../../test/databases.ts';
import type { Database } from '../../db/database.ts';
import { ROWS_PER_STATEMENT } from './add-usage.ts';
import { type OpenUsageStore, openUsageStore } from './usage-store.ts';

const DAY = Date.UTC(2026, 10, 23);
const used = (changes: Partial<UsageRecord> = {}): UsageRecord => ({
  atMs: DAY,
  keyId: 'k1',
  team: 'acme',
  project: null,
  model: 'demo',
  requestCount: 1,
  inputTokenCount: 10,
  cachedTokenCount: 4,
  outputTokenCount: 3,
  ...changes,
});
const ALL: UsageQuery = {
  firstDay: '2000-01-01',
  lastDay: '2100-01-01',
  groups: [],
  keyIds: [],
  teams: [],
  projects: [],
  models: [],
};

describeOnEveryDatabase('the usage store', ({ open }) => {
  let database: Database;
  let folder: string;
  let store: OpenUsageStore;
  beforeAll(async () => {
    database = await open();
    folder = await mkdtemp(join(tmpdir(), 'ortler-usage-'));
    store = await openUsageStore(database, folder);
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(async () => {
    await store.close();
    await database.close();
    await rm(folder, { recursive: true });
  }, DATABASE_HOOK_TIMEOUT_MS);

  it('adds what is recorded at once and one after the other, apart by day and groups', async () => {
    await Promise.all([...Array(50)].map(() => store.record(used())));
    await store.record(used({ keyId: 'k2', team: null, project: 'web', requestCount: 0 }));
    await store.record(used({ atMs: DAY + 86_400_000, model: 'other' }));
    const [first, second] = await store.list(ALL);
    expect(first).toEqual({
      day: '2026-11-23',
      keyId: null,
      team: null,
      project: null,
      model: null,
      requestCount: 50,
      inputTokenCount: 510,
      cachedTokenCount: 204,
      outputTokenCount: 153,
    });
    expect(second).toMatchObject({ day: '2026-11-24', requestCount: 1 });
    const groups = await store.list({
      ...ALL,
      lastDay: '2026-11-23',
      groups: ['api_key_id', 'team', 'project_id'],
    });
    expect(
      groups.map(({ keyId, team, project, inputTokenCount }) => [keyId, team, project, inputTokenCount]),
    ).toEqual([
      ['k1', 'acme', null, 500],
      ['k2', null, 'web', 10],
    ]);
    const filtered = await store.list({ ...ALL, keyIds: ['k1'], models: ['other'], groups: ['model'] });
    expect(filtered).toMatchObject([{ day: '2026-11-24', model: 'other' }]);
  });

  it('adds more rows at once than one statement takes', async () => {
    const model = 'many';
    const keyIds = Array.from({ length: ROWS_PER_STATEMENT + 2 }, (_, index) => `many-${index}`);
    await Promise.all(keyIds.map(keyId => store.record(used({ keyId, model }))));
    await store.record(used({ keyId: keyIds.at(-1)!, model }));
    const sums = await store.list({ ...ALL, models: [model], groups: ['api_key_id'] });
    expect(sums).toHaveLength(keyIds.length);
    expect(sums.reduce((sum, { inputTokenCount }) => sum + inputTokenCount, 0)).toBe(
      10 * (keyIds.length + 1),
    );
  });

  it('keeps what was recorded for the next start', async () => {
    const before = await store.list(ALL);
    await store.close();
    store = await openUsageStore(database, folder);
    expect(await store.list(ALL)).toEqual(before);
  });
});
