// Runs the same tests on every database the server knows: SQLite, PGlite (PostgreSQL compiled to WebAssembly) and,
// where TEST_POSTGRES_URL names one, a real PostgreSQL server. `scripts/ci/with-postgres.mjs` starts such a server.
// TEST_DATABASES=sqlite leaves the others out, as `pnpm check` does.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, PGliteDialect } from 'kysely';
import pg from 'pg';
import { describe } from 'vitest';
import { createDatabase, type Database, type QueryReader } from '../src/db/database.ts';
import { JsonPageWriter } from '../src/db/json-page.ts';
import { migrate } from '../src/db/migrate.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { readCondition } from '../src/db/postgres/read-condition.ts';
import type { Tables } from '../src/db/tables.ts';
import { borrowPglite } from './pglite-pool.ts';

/** A database of its own, empty but for its tables. `close` removes it. */
export type OpenTestDatabase = (options?: { readonly queryTimeLimitMs?: number }) => Promise<Database>;

export interface TestDatabaseKind {
  readonly name: 'sqlite' | 'pglite' | 'postgres';
  readonly open: OpenTestDatabase;
  /** Several connections work at the same time; PGlite has only one, so races cannot be shown on it. */
  readonly isConcurrent: boolean;
}

const DEFAULT_LIMIT_MS = 30_000;

/** For hooks that open or close a database: a busy machine takes its time to make one. Unit: milliseconds. */
export const DATABASE_HOOK_TIMEOUT_MS = 60_000;

/** Address of a PostgreSQL server on which the tests may make databases. */
export const TEST_POSTGRES_URL = process.env.TEST_POSTGRES_URL;

const IS_SQLITE_ONLY = process.env.TEST_DATABASES === 'sqlite';

/** Describes `body` once per database. Without a PostgreSQL server its tests are skipped and the name says why. */
export function describeOnEveryDatabase(name: string, body: (database: TestDatabaseKind) => void): void {
  describe(`${name} on sqlite`, () => body({ name: 'sqlite', open: openTestSqlite, isConcurrent: true }));
  const noPglite = IS_SQLITE_ONLY ? ' (skipped: TEST_DATABASES=sqlite)' : '';
  describe.skipIf(IS_SQLITE_ONLY)(`${name} on pglite${noPglite}`, () =>
    body({ name: 'pglite', open: openTestPglite, isConcurrent: false }),
  );
  const noPostgres = TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : noPglite;
  describe.skipIf(TEST_POSTGRES_URL === undefined || IS_SQLITE_ONLY)(`${name} on postgres${noPostgres}`, () =>
    body({ name: 'postgres', open: openTestPostgres, isConcurrent: true }),
  );
}

const openTestSqlite: OpenTestDatabase = async ({ queryTimeLimitMs = DEFAULT_LIMIT_MS } = {}) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ortler-test-'));
  const database = await openDatabase({ dataDir, queryTimeLimitMs });
  return closingWith(database, () => rm(dataDir, { recursive: true }));
};

const openTestPglite: OpenTestDatabase = async () => {
  const { pglite, giveBack } = await borrowPglite();
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) });
  await migrate(db, 'postgres');
  return {
    ...createDatabase('postgres', {
      db,
      reader: db,
      queries: createKyselyQueries(db),
      condition: () => readCondition(db),
    }),
    close: giveBack,
  };
};

/** PGlite has one connection, which knows no cancellation. */
function createKyselyQueries(db: Kysely<Tables>): QueryReader {
  return {
    concurrency: 1,
    async readPage(statement, options) {
      const writer = new JsonPageWriter(options);
      const { rows } = await db.executeQuery(statement);
      for (const row of rows) if (!writer.add(row as Record<string, unknown>)) break;
      return writer.end();
    },
    readRows: async statement => (await db.executeQuery(statement)).rows,
    close: async () => undefined,
  };
}

const openTestPostgres: OpenTestDatabase = async ({ queryTimeLimitMs = DEFAULT_LIMIT_MS } = {}) => {
  const { url, drop } = await createPostgresDatabase();
  const database = await openDatabase({ dataDir: '', databaseUrl: url, queryTimeLimitMs });
  return closingWith(database, drop);
};

/**
 * Makes an empty database on the test server, for tests that open it themselves, more than once.
 * @param options SQL of `create database`.
 */
export async function createPostgresDatabase(
  options = '',
): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `ortler_test_${randomBytes(6).toString('hex')}`;
  await runOnServer(`create database ${name} ${options}`);
  const url = new URL(TEST_POSTGRES_URL!);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => runOnServer(`drop database ${name} with (force)`) };
}

/** Runs SQL on the test server, outside the pools of a `Database`. */
export async function runOnServer(statement: string, url = TEST_POSTGRES_URL): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function closingWith(database: Database, after: () => Promise<void>): Database {
  return {
    ...database,
    async close() {
      await database.close();
      await after();
    },
  };
}
