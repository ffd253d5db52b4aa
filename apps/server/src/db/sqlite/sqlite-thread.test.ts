import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QueryTimeoutError, SqliteError } from '../database-errors.ts';
import { createDatabaseFile } from './create-database-file.ts';
import { type SqliteThread, startSqliteThread } from './sqlite-thread.ts';
import { createThreadDialect } from './thread-dialect.ts';

let folder: string;
let writer: SqliteThread;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-thread-'));
  for (const name of ['x.db', 'full.db']) await createDatabaseFile(join(folder, name));
  writer = await startSqliteThread({ file: join(folder, 'x.db') });
});
afterAll(async () => {
  await writer.close();
  await rm(folder, { recursive: true });
});

const ENDLESS = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n';

it('gives the rows of a reading and the count of a writing statement', async () => {
  await writer.run('create table t (a integer)', []);
  expect(await writer.run('insert into t values (?), (?)', [1, 2])).toEqual({ rows: [], changedCount: 2 });
  expect((await writer.run('select a from t order by a', [])).rows).toEqual([{ a: 1 }, { a: 2 }]);
});

it('keeps each commit on the disk before it answers', async () => {
  const [journal] = (await writer.run('pragma journal_mode', [])).rows;
  const [synchronous] = (await writer.run('pragma synchronous', [])).rows;
  expect([journal, synchronous]).toEqual([{ journal_mode: 'wal' }, { synchronous: 2 }]);
});

it('reports a failing statement with its code and goes on', async () => {
  const error: unknown = await writer.run('select nothing', []).catch(thrown => thrown);
  expect(error).toBeInstanceOf(SqliteError);
  expect((error as SqliteError).errcode).toBe(1);
  expect((await writer.run('select 1 as one', [])).rows).toEqual([{ one: 1 }]);
});

it('reports a full disk, and goes on', async () => {
  const db = new Kysely<{ t: { a: string } }>({
    dialect: createThreadDialect({ thread: { file: join(folder, 'full.db') }, threadCount: 1 }),
  });
  await sql`create table t (a text)`.execute(db);
  await sql`pragma max_page_count = 8`.execute(db);
  const insert = (length: number) =>
    db.transaction().execute(async transaction => {
      await transaction.insertInto('t').values({ a: 'a' }).execute();
      await transaction
        .insertInto('t')
        .values({ a: 'x'.repeat(length) })
        .execute();
    });
  await expect(insert(100_000)).rejects.toThrow('database or disk is full');
  await insert(10);
  expect(await db.selectFrom('t').select('a').execute()).toEqual([{ a: 'a' }, { a: 'x'.repeat(10) }]);
  await db.destroy();
});

it('leaves the main thread free while it works', async () => {
  const counting = writer.run(`${ENDLESS.replace('from n)', 'from n where i < 2000000)')}`, []);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 5);
  await counting;
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});

it('gives up a read that cannot be stopped, and says so to those after it', async () => {
  const file = join(folder, 'x.db');
  const reader = await startSqliteThread({ file, readTimeLimitMs: 100 });
  const bounded = ENDLESS.replace('from n)', 'from n where i < 20000000)');
  const results = await Promise.allSettled([reader.run(bounded, []), reader.run('select 1', [])]);
  for (const result of results)
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(QueryTimeoutError) });
  expect(reader.isAlive).toBe(false);
  await expect(reader.run('select 1', [])).rejects.toThrow(QueryTimeoutError);
});
