// What the database does when its storage fails: nothing that was not stored is acknowledged.

import { cp, mkdir, mkdtemp, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Database } from './database.ts';
import { DatabaseError } from './database-errors.ts';
import { openDatabase } from './open-database.ts';
import { DATABASE_FILE } from './sqlite/open-sqlite.ts';
import { StorageError } from './storage-error.ts';

/** What is waited for takes milliseconds; the limit only ends a test that waits in vain. */
const PATIENCE = { timeout: 20_000 };
const KEY = { name: 'n', team: null, created_at: '2026-01-01T00:00:00.000Z' };

let folder: string;
let dataDir: string;
let database: Database;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-faults-'));
  dataDir = join(folder, 'data');
  database = await openDatabase({ dataDir, queryTimeLimitMs: 5_000 });
});
afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const insert = (id: string) =>
  database.db
    .insertInto('api_keys')
    .values({ ...KEY, id, hash: id })
    .execute();
const insertTogether = (id: string) =>
  database.transaction(async trx => {
    await trx
      .insertInto('api_keys')
      .values({ ...KEY, id, hash: id })
      .execute();
  });
const ids = async () =>
  (await database.reader.selectFrom('api_keys').select('id').orderBy('id').execute()).map(({ id }) => id);
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    error => (error instanceof StorageError ? error.fault : error),
  );

/** Overwrites the middle of the file, as a bad disk does. */
async function damage(file: string): Promise<void> {
  const { size } = await stat(file);
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(size - 4_096, 0xa5), 0, size - 4_096, 4_096);
  await handle.close();
}

it('refuses reads and writes after its folder was removed, and goes on when a backup is in its place', async () => {
  await insert('kept');
  expect(await ids()).toEqual(['kept']);
  await database.close();
  database = await openDatabase({ dataDir, queryTimeLimitMs: 5_000 });
  await cp(dataDir, join(folder, 'backup'), { recursive: true });
  await insert('lost');
  await rm(dataDir, { recursive: true });
  expect(await faultOf(insert('refused'))).toBe('lost');
  expect(await faultOf(insertTogether('refused'))).toBe('lost');
  expect(await faultOf(ids())).toBe('lost');
  expect(await database.condition()).toBe('lost');
  await mkdir(dataDir);
  await writeFile(join(dataDir, DATABASE_FILE), '');
  expect(await faultOf(insert('refused'))).toBe('lost');
  await rm(dataDir, { recursive: true });
  await rename(join(folder, 'backup'), dataDir);
  expect(await database.condition()).toBe('ready');
  await insert('after');
  expect(await ids()).toEqual(['after', 'kept']);
});

it('refuses to commit what it wrote into a file that was removed meanwhile', async () => {
  const work = database.transaction(async trx => {
    await trx
      .insertInto('api_keys')
      .values({ ...KEY, id: 'a', hash: 'a' })
      .execute();
    await rm(dataDir, { recursive: true });
  });
  expect(await faultOf(work)).toBe('lost');
});

it('refuses to commit into a write-ahead log that was removed', async () => {
  await insert('a');
  await rm(join(dataDir, `${DATABASE_FILE}-wal`));
  expect(await faultOf(insert('b'))).toBe('lost');
});

it('refuses writes to a full disk, and goes on', async () => {
  await sql`pragma max_page_count = 1`.execute(database.db);
  const fill = async () => {
    for (let index = 0; index < 200; index++) await insert(`${index}`.padEnd(3_000, 'x'));
  };
  const error: unknown = await fill().catch(thrown => thrown);
  expect(error).toMatchObject({ reason: 'storage_full', retryAfterMs: 30_000, fault: 'full' });
  expect(await faultOf(insertTogether('y'.repeat(30_000)))).toBe('full');
  await sql`pragma max_page_count = 1000000`.execute(database.db);
  expect(await faultOf(insertTogether('z'))).toBe('none');
});

it('refuses writes while another process holds the lock, and goes on', async () => {
  await sql`pragma busy_timeout = 20`.execute(database.db);
  using other = new DatabaseSync(join(dataDir, DATABASE_FILE));
  other.exec('begin immediate');
  const error: unknown = await insert('a').catch(thrown => thrown);
  expect(error).toMatchObject({ reason: 'storage_unavailable', retryAfterMs: 2_000, fault: 'busy' });
  expect(await faultOf(insertTogether('b'))).toBe('busy');
  expect(await ids()).toEqual([]);
  other.exec('commit');
  await insert('c');
  expect(await ids()).toEqual(['c']);
});

it('starts with no damaged file, and says what to do', async () => {
  for (let index = 0; index < 100; index++) await insert(`${index}`.padEnd(1_000, 'x'));
  await database.close();
  await damage(join(dataDir, DATABASE_FILE));
  const error: unknown = await openDatabase({ dataDir, queryTimeLimitMs: 5_000 }).catch(thrown => thrown);
  expect(error).toBeInstanceOf(DatabaseError);
  expect((error as Error).message).toMatch(/the file is damaged.*restore it from a backup/);
});

it('starts with no empty file where a database was expected', async () => {
  await database.close();
  await writeFile(join(dataDir, DATABASE_FILE), '');
  await expect(openDatabase({ dataDir, queryTimeLimitMs: 5_000 })).rejects.toThrow(
    'is empty, where a database was expected; restore it from a backup',
  );
});

it('takes no writes into a file that it found damaged, until the file is sound again', async () => {
  for (let index = 0; index < 100; index++) await insert(`${index}`.padEnd(1_000, 'x'));
  await sql`pragma wal_checkpoint(truncate)`.execute(database.db);
  const file = join(dataDir, DATABASE_FILE);
  await cp(file, `${file}.backup`);
  await damage(file);
  // A reader has no pages of its own yet.
  expect(await faultOf(ids())).toBe('corrupt');
  expect(await database.condition()).toBe('corrupt');
  expect(await faultOf(insert('refused'))).toBe('corrupt');
  await rm(`${file}-wal`, { force: true });
  await rename(`${file}.backup`, file);
  await vi.waitFor(async () => expect(await database.condition()).toBe('ready'), PATIENCE);
  expect(await ids()).toHaveLength(100);
});
