import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DATABASE_FILE, openDatabase } from '../db/open-database.ts';
import type { Tables } from '../db/tables.ts';
import { createApiKeyStore } from './api-keys.ts';

let folder: string;
let db: Kysely<Tables>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-keys-'));
  db = await openDatabase(folder);
});

afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true });
});

const open = (bootstrapKey?: string) => createApiKeyStore(db, { bootstrapKey, now: () => 0 });

it('makes one key on the first start and accepts it on later ones', async () => {
  const key = await (await open()).createFirstKey();
  expect(key).toMatch(/^ortler-[\w-]{43}$/);
  const later = await open();
  expect(await later.createFirstKey()).toBeNull();
  expect(await later.verifyBearer(key!)).toEqual({ keyId: expect.any(String) });
});

it('refuses every other key', async () => {
  const store = await open();
  const key = (await store.createFirstKey())!;
  for (const wrong of ['', 'x', key.slice(0, -1), `${key}x`, key.toUpperCase()])
    expect(await store.verifyBearer(wrong)).toBeNull();
});

it('stores no key, only its hash', async () => {
  const key = (await (await open()).createFirstKey())!;
  await db.destroy();
  const bytes = await readFile(join(folder, DATABASE_FILE));
  expect(bytes.includes(key)).toBe(false);
  db = await openDatabase(folder);
  expect(await db.selectFrom('api_keys').select('hash').execute()).toHaveLength(1);
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

it('keeps the database from other users', async () => {
  expect((await stat(join(folder, DATABASE_FILE))).mode & 0o077).toBe(0);
});
