// PostgreSQL 15 and later behind three connection pools: one for all statements, one for reads only, with a statement timeout
// and a limit on the size of results, and one for queries whose cost a caller decides.

import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import pg from 'pg';
import { createDatabase, type Database } from '../database.ts';
import { DatabaseError, MAX_RESULT_LENGTH, messageOf, withoutPassword } from '../database-errors.ts';
import { guardQueries } from '../guard-queries.ts';
import { migrate } from '../migrate.ts';
import { createStorageDialect, type StatementTrace, type StorageDialectOptions } from '../storage-dialect.ts';
import type { Tables } from '../tables.ts';
import { boundAnswers } from './bounded-pool.ts';
import { boundStatements } from './bounded-statements.ts';
import { checkEncoding } from './check-encoding.ts';
import { createEndingPool } from './ending-pool.ts';
import { createPostgresQueries } from './postgres-queries.ts';
import { readCondition } from './read-condition.ts';
import { sessionOptions } from './session-options.ts';

/** Connections of each pool. Source: PostgreSQL takes 100 by default, and several servers share them. */
const POOL_SIZE = 10;
/** Connections for queries whose cost a caller decides. */
const QUERY_POOL_SIZE = 6;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Longest statement of the server itself. A database that hangs ends requests with 503 in place of no answer. Unit: milliseconds.
 */
const STATEMENT_TIMEOUT_MS = 30_000;
/** A reading statement that PostgreSQL has not ended so long after its timeout never ends. Unit: milliseconds. */
const READING_GRACE_MS = 5_000;
const READ_ONLY = { default_transaction_read_only: 'on' };
/** Health checks: one connection, and no patience. */
const CHECKS: pg.PoolConfig = { max: 1, connectionTimeoutMillis: 1_000, query_timeout: 1_000 };

/**
 * @param statementTimeoutMs Of `db`.
 * Throws: `DatabaseError`.
 */
export async function openPostgres(
  url: string,
  queryTimeLimitMs: number,
  traceStatement?: StatementTrace,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Promise<Database> {
  const trace = traceStatement?.bind(undefined, 'postgresql');
  // Both sides keep the limit: a statement that was given up here would go on there, and wait for a lock on a connection of its own.
  const limits = { query_timeout: statementTimeoutMs, statement_timeout: statementTimeoutMs };
  const db = openHandle(boundStatements(createPool(url, limits)), { trace });
  const reading = { statement_timeout: queryTimeLimitMs };
  const limitMs = queryTimeLimitMs + READING_GRACE_MS;
  const readers = boundAnswers(createPool(url, reading, READ_ONLY), {
    maxLength: MAX_RESULT_LENGTH,
    limitMs,
  });
  const reader = openHandle(readers, { isReader: true, trace });
  // A connection of its own, so that a health check does not wait for other statements, nor behind one that hangs.
  const checker = openHandle(boundStatements(createPool(url, CHECKS)));
  const queries = createPostgresQueries(createPool(url, { ...reading, max: QUERY_POOL_SIZE }, READ_ONLY), {
    limitMs,
    cancelBackend: async processId => void (await sql`select pg_cancel_backend(${processId})`.execute(db)),
  });
  // Connects when it is used, and not for long.
  const maintenance = openHandle(createPool(url, { max: 1 }));
  const database = createDatabase('postgres', {
    db,
    reader,
    maintenance,
    queries: guardQueries(queries, { onFault: () => undefined, trace }),
    condition: () => readCondition(checker),
    onClose: () => checker.destroy(),
  });
  try {
    // A migration of a large table may take its time.
    await prepare(maintenance);
    return database;
  } catch (error) {
    await database.close();
    throw new DatabaseError(`The database ${withoutPassword(url)} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function prepare(db: Kysely<Tables>): Promise<void> {
  await checkEncoding(db);
  await migrate(db, 'postgres');
}

/** The version of a PostgreSQL server. Changes nothing. Throws: when it does not answer. */
export async function pingPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return `PostgreSQL ${rows[0]?.server_version}`;
  } finally {
    await client.end();
  }
}

function openHandle(
  pool: PostgresPool,
  { isReader = false, trace }: Pick<StorageDialectOptions, 'isReader' | 'trace'> = {},
): Kysely<Tables> {
  const dialect = new PostgresDialect({ pool });
  const guard = { isReader, trace, onFault: () => undefined };
  return new Kysely<Tables>({ dialect: createStorageDialect(dialect, guard) });
}

/** @param sessionSettings Settings of each connection, beside those of all pools. */
function createPool(
  url: string,
  settings: pg.PoolConfig,
  sessionSettings?: Readonly<Record<string, string>>,
): pg.Pool {
  const pool = createEndingPool({
    ...sessionOptions(url, sessionSettings),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'ortler',
    types: { getTypeParser: parserOf },
    ...settings,
  });
  // The pool replaces an idle connection that is lost, and a running statement reports the error itself. Without a
  // listener the `error` event would end the process.
  pool.on('error', () => undefined);
  // The same for a connection that is lost between the statements of a transaction.
  pool.on('connect', client => client.on('error', () => undefined));
  return pool;
}

function parserOf(typeId: number, format?: 'text' | 'binary') {
  return typeId === pg.types.builtins.INT8 ? toSafeInteger : pg.types.getTypeParser(typeId, format as 'text');
}

/** Parses a bigint column as a number, as SQLite returns it. Throws: `RangeError` above 2^53 - 1. */
export function toSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The integer ${text} has no exact number`);
  return value;
}
