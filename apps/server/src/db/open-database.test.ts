import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createPostgresDatabase,
  DATABASE_HOOK_TIMEOUT_MS,
  describeOnEveryDatabase,
  TEST_POSTGRES_URL,
} from '../../test/databases.ts';
import type { Database } from './database.ts';
import { DatabaseError, isResultTooLarge, isUniqueViolation } from './database-errors.ts';
import { openDatabase } from './open-database.ts';
import { DATABASE_FILE } from './sqlite/open-sqlite.ts';
import { toStorageError } from './storage-error.ts';

const LIMIT = { queryTimeLimitMs: 30_000 };
const KEY = { id: 'a', name: 'n', hash: 'h', team: null, created_at: '2026-01-01T00:00:00.000Z' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-db-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Databases to open. Concurrent openings must migrate once. */
const places: [string, () => Promise<{ databaseUrl?: string; drop: () => Promise<void> }>][] = [
  ['sqlite', async () => ({ drop: async () => undefined })],
];
if (TEST_POSTGRES_URL !== undefined)
  places.push([
    'postgres',
    async () => {
      const { url, drop } = await createPostgresDatabase();
      return { databaseUrl: url, drop };
    },
  ]);

describe('openDatabase', () => {
  it('names the folder and the reason when it cannot use them', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const damaged = join(folder, 'damaged');
    await mkdir(damaged);
    await writeFile(join(damaged, DATABASE_FILE), 'this is not a database');
    const occupied = join(folder, 'occupied');
    await mkdir(join(occupied, DATABASE_FILE), { recursive: true });
    for (const dataDir of [file, damaged, occupied]) {
      const error: unknown = await openDatabase({ dataDir, ...LIMIT }).catch(thrown => thrown);
      expect(error).toBeInstanceOf(DatabaseError);
      expect((error as Error).message).toMatch(`The data folder ${dataDir} cannot be used: `);
    }
  }, 30_000);

  it('names a PostgreSQL server that does not answer, without its password', async () => {
    const databaseUrl = 'postgres://me:secret@127.0.0.1:1/x';
    const error: unknown = await openDatabase({ dataDir: folder, databaseUrl, ...LIMIT }).catch(
      thrown => thrown,
    );
    expect(error).toBeInstanceOf(DatabaseError);
    expect((error as Error).message).toMatch('The database postgres://me:***@127.0.0.1:1/x cannot be used: ');
    expect((error as Error).message).not.toContain('secret');
  });

  it(
    'keeps a SQLite file from other users',
    async () => {
      const dataDir = join(folder, 'private');
      const database = await openDatabase({ dataDir, ...LIMIT });
      for (const suffix of ['', '-wal'])
        expect((await stat(join(dataDir, DATABASE_FILE + suffix))).mode & 0o077).toBe(0);
      await database.close();
    },
    DATABASE_HOOK_TIMEOUT_MS,
  );

  it.each(places)('lets several servers open a new %s at once', async (name, make) => {
    const { databaseUrl, drop } = await make();
    const dataDir = join(folder, `together-${name}`);
    const opened = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase({ dataDir, databaseUrl, ...LIMIT })),
    );
    await opened[0]!.db.insertInto('api_keys').values(KEY).execute();
    for (const { db } of opened)
      expect(await db.selectFrom('api_keys').selectAll().execute()).toMatchObject([KEY]);
    for (const database of opened) await database.close();
    await drop();
  });

  it.each(places)('leaves a %s of a newer version alone, and says so', async (name, make) => {
    const { databaseUrl, drop } = await make();
    const options = { dataDir: join(folder, `newer-${name}`), databaseUrl, ...LIMIT };
    const { db, close } = await openDatabase(options);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2036-01-01')`.execute(db);
    await close();
    await expect(openDatabase(options)).rejects.toThrow('made by a newer version of Ortler (9999-later)');
    await drop();
  });

  it.each(places)('counts right when several servers write to one %s at once', async (name, make) => {
    const { databaseUrl, drop } = await make();
    const dataDir = join(folder, `counting-${name}`);
    const opened = await Promise.all(
      Array.from({ length: 3 }, () => openDatabase({ dataDir, databaseUrl, ...LIMIT })),
    );
    const add = (database: Database) =>
      database.exclusively('count', async trx => {
        const rows = await trx.selectFrom('api_keys').select('id').execute();
        const id = String(rows.length);
        await trx
          .insertInto('api_keys')
          .values({ ...KEY, id, hash: id })
          .execute();
      });
    await Promise.all(opened.flatMap(database => Array.from({ length: 5 }, () => add(database))));
    const ids = (await opened[0]!.db.selectFrom('api_keys').select('id').execute()).map(({ id }) =>
      Number(id),
    );
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, index) => index));
    for (const database of opened) await database.close();
    await drop();
  });
});

describeOnEveryDatabase('a database', ({ name, open, isConcurrent }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open({ queryTimeLimitMs: 200 });
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(() => database.close(), DATABASE_HOOK_TIMEOUT_MS);

  it('undoes everything of a transaction that fails', async () => {
    const failing = database.transaction(async trx => {
      await trx
        .insertInto('api_keys')
        .values({ ...KEY, id: 'gone', hash: 'gone' })
        .execute();
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await database.db.selectFrom('api_keys').where('id', '=', 'gone').selectAll().execute()).toEqual(
      [],
    );
  });

  it('knows a key that is taken from other failures', async () => {
    const insert = (row: Partial<typeof KEY>) =>
      database.db
        .insertInto('api_keys')
        .values({ ...KEY, ...row })
        .execute();
    await insert({});
    expect(isUniqueViolation(await insert({ hash: 'other' }).catch(error => error))).toBe(true);
    expect(isUniqueViolation(await insert({ id: 'other' }).catch(error => error))).toBe(true);
    const failure: unknown = await sql`select nothing from nowhere`
      .execute(database.db)
      .catch(error => error);
    expect(failure).toBeInstanceOf(Error);
    expect(isUniqueViolation(failure)).toBe(false);
  });

  it('shows a reader what was written before', async () => {
    await database.db
      .insertInto('api_keys')
      .values({ ...KEY, id: 'seen', hash: 'seen' })
      .execute();
    const rows = await database.reader.selectFrom('api_keys').select('id').where('id', '=', 'seen').execute();
    expect(rows).toEqual([{ id: 'seen' }]);
  });

  it('gives counts as numbers', async () => {
    const { rows } = await sql<{ count: unknown }>`select count(*) as count from api_keys`.execute(
      database.db,
    );
    expect(rows[0]!.count).toBeTypeOf('number');
  });

  it.runIf(isConcurrent)('does not let a reader write', async () => {
    await expect(database.reader.deleteFrom('api_keys').execute()).rejects.toThrow(/read-?only/);
  });

  it.runIf(isConcurrent)(
    'refuses an answer that is too large, and answers the next one',
    async () => {
      const large = await open();
      const rows = 80;
      const text = name === 'sqlite' ? sql`hex(zeroblob(500000))` : sql`repeat('x', 1000000)`;
      const numbers = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(rows)})`;
      const failing = sql`${numbers} select i, ${text} as text from n`.execute(large.reader);
      await expect(failing).rejects.toSatisfy(isResultTooLarge);
      const { rows: few } = await sql`select 1 as one`.execute(large.reader);
      expect(few).toEqual([{ one: 1 }]);
      await large.close();
    },
    60_000,
  );

  it('says that it is ready', async () => {
    expect(await database.condition()).toBe('ready');
  });

  // Of a server all connections would have to be others first.
  it.runIf(name === 'pglite')('says that it only reads, and refuses writes for that', async () => {
    const set = (value: string) =>
      sql.raw(`set default_transaction_read_only = ${value}`).execute(database.db);
    await set('on');
    expect(await database.condition()).toBe('read_only');
    const refusal = await database.db.insertInto('api_keys').values(KEY).execute().catch(toStorageError);
    expect(refusal).toMatchObject({ fault: 'read-only', reason: 'storage_unavailable' });
    await set('off');
    expect(await database.condition()).toBe('ready');
  });
});
