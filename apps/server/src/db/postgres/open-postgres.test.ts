// PostgreSQL databases whose operator has set them up in a way of his own.

import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createPostgresDatabase,
  DATABASE_HOOK_TIMEOUT_MS,
  runOnServer,
  TEST_POSTGRES_URL,
} from '../../../test/databases.ts';
import { createPayloadIndex } from '../../stores/feedback/payload-indexes.ts';
import { createRateLimitTable } from '../../stores/limits/rate-limit-table.ts';
import { openUsageStore } from '../../stores/usage/usage-store.ts';
import type { Database } from '../database.ts';
import type { RateLimitTables } from '../tables/rate-limits.ts';
import { openPostgres } from './open-postgres.ts';

const LIMIT_MS = 30_000;
const reason = TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : '';

describe.skipIf(TEST_POSTGRES_URL === undefined)(`a PostgreSQL database${reason}`, () => {
  let url: string;
  let drop: () => Promise<void>;
  beforeEach(async () => {
    ({ url, drop } = await createPostgresDatabase());
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterEach(() => drop(), DATABASE_HOOK_TIMEOUT_MS);

  const nameOf = () => new URL(url).pathname.slice(1);
  const openAll = async (address: string) => {
    const database = await openPostgres(address, LIMIT_MS);
    try {
      const usage = await openUsageStore(database, '');
      await createRateLimitTable(database.db as unknown as Kysely<RateLimitTables>);
      await usage.close();
    } finally {
      await database.close();
    }
  };

  it('keeps its transactions apart as everywhere, whatever isolation it has as its default', async () => {
    await runOnServer(`alter database ${nameOf()} set default_transaction_isolation = serializable`);
    const opened = [await openPostgres(url, LIMIT_MS), await openPostgres(url, LIMIT_MS)];
    const addOne = (database: Database) =>
      database.exclusively('count', async trx => {
        const id = String((await trx.selectFrom('api_keys').select('id').execute()).length);
        const key = { id, name: 'n', hash: id, team: null, created_at: '2026-01-01T00:00:00.000Z' };
        await trx.insertInto('api_keys').values(key).execute();
      });
    await Promise.all(opened.flatMap(database => Array.from({ length: 5 }, () => addOne(database))));
    expect(await opened[0]!.db.selectFrom('api_keys').select('id').execute()).toHaveLength(10);
    for (const database of opened) await database.close();
  });

  it('gives all digits of a double, whatever it has as its default', async () => {
    await runOnServer(`alter database ${nameOf()} set extra_float_digits = -5`);
    const { reader, close } = await openPostgres(url, LIMIT_MS);
    const { rows } = await sql`select 0.1::float8 + 0.2::float8 as sum`.execute(reader);
    expect(rows).toEqual([{ sum: 0.1 + 0.2 }]);
    await close();
  });

  it('builds an index for longer than a statement of a request may take', async () => {
    const database = await openPostgres(url, LIMIT_MS, undefined, 200);
    const wait = sql`select pg_sleep(0.5)`.execute(database.db);
    await expect(wait).rejects.toMatchObject({ fault: 'unreachable' });
    // The build waits for the end of an older transaction.
    const older = runOnServer(
      'begin isolation level repeatable read; select from feedback; select pg_sleep(1); commit',
      url,
    );
    await new Promise(resolve => setTimeout(resolve, 300));
    const started = performance.now();
    await createPayloadIndex(database, { path: 'payload.score', reading: 'number' });
    expect(performance.now() - started).toBeGreaterThan(200);
    await older;
    await database.close();
  });

  it('ends a statement there that is given up here', async () => {
    const database = await openPostgres(url, LIMIT_MS, undefined, 200);
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    await blocker.query('begin; lock table api_keys');
    await expect(database.db.deleteFrom('api_keys').execute()).rejects.toMatchObject({
      fault: 'unreachable',
    });
    const waiting = async () =>
      (
        await blocker.query(`select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`)
      ).rowCount;
    await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 20_000 });
    await blocker.end();
    await database.close();
  });

  it('has its tables in the schema of the address, and readers that only read', async () => {
    await runOnServer('create schema tenant', url);
    const { db, reader, close } = await openPostgres(`${url}?options=-c%20search_path%3Dtenant`, LIMIT_MS);
    const { rows } = await sql`
      select schemaname from pg_tables where tablename = 'api_keys'`.execute(db);
    expect(rows).toEqual([{ schemaname: 'tenant' }]);
    expect(await reader.selectFrom('api_keys').selectAll().execute()).toEqual([]);
    await expect(reader.deleteFrom('api_keys').execute()).rejects.toThrow(/read-only/);
    await close();
  });

  it('is refused for an encoding other than UTF-8', async () => {
    const latin = await createPostgresDatabase("encoding 'LATIN1' locale 'C' template template0");
    await expect(openPostgres(latin.url, LIMIT_MS)).rejects.toThrow(
      'its encoding is LATIN1 and must be UTF8',
    );
    await latin.drop();
  });

  it('opens, once it has its tables, for a role that may only read and write rows', async () => {
    const role = `ortler_test_${randomBytes(6).toString('hex')}`;
    await openAll(url);
    await runOnServer(
      `create role ${role} login; revoke create on schema public from public;
      grant select, insert, update, delete on all tables in schema public to ${role}`,
      url,
    );
    const address = new URL(url);
    address.username = role;
    await openAll(address.href);
    await runOnServer(`drop owned by ${role}; drop role ${role}`, url);
  });
});
