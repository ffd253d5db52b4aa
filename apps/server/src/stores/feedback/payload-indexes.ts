// Indexes on payload paths. The operator creates them with `ortler feedback index` for frequent filters.

import { createHash } from 'node:crypto';
import {
  type IndexReading,
  payloadIndexExpression,
  postgresDialect,
  QueryError,
  sqliteDialect,
} from '@ortler/feedback-query';
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { isIndexEntryTooLong } from '../../db/database-errors.ts';

export interface PayloadIndex {
  /** `payload.output.score` */
  readonly path: string;
  /** The type of the literals that filters compare the path with. */
  readonly reading: IndexReading;
}

/** Creates and drops indexes on payload paths. */
export interface PayloadIndexes {
  /** Creates the index if it does not exist. Throws: `QueryError` for a path that cannot be indexed. */
  create(index: PayloadIndex): Promise<void>;
  /** Drops the index if it exists. */
  drop(index: PayloadIndex): Promise<void>;
}

/** Indexes of SQLite and PostgreSQL. */
export function createPayloadIndexes(database: Database): PayloadIndexes {
  return {
    create: index => createPayloadIndex(database, index),
    drop: index => dropPayloadIndex(database, index),
  };
}

/** Index name: derived from path and reading, so it is the same on every server. */
export function payloadIndexName({ path, reading }: PayloadIndex): string {
  const digest = createHash('sha256').update(`${reading} ${path}`).digest('hex').slice(0, 16);
  return `feedback_payload_${digest}`;
}

/**
 * Creates the index if it does not exist, and on PostgreSQL updates the planner's statistics. PostgreSQL builds it concurrently with
 * writes; on SQLite writers wait. Throws: `QueryError` for a path that cannot be indexed.
 */
export async function createPayloadIndex(database: Database, index: PayloadIndex): Promise<void> {
  const { kind, maintenance: db } = database;
  const dialect = kind === 'sqlite' ? sqliteDialect : postgresDialect;
  const expression = sql.raw(payloadIndexExpression(index.path, index.reading, dialect));
  const name = sql.id(payloadIndexName(index));
  const concurrently = kind === 'postgres' ? sql`concurrently` : sql``;
  if (kind === 'postgres') await dropUnfinishedIndex(database, index);
  else await setStatistics(database, index);
  try {
    await sql`create index ${concurrently} if not exists ${name}
      on feedback (project_id, (${expression}), created_at, id)`.execute(db);
  } catch (error) {
    if (kind === 'postgres') await dropUnfinishedIndex(database, index);
    if (!isIndexEntryTooLong(error)) throw error;
    const message = `Feedback has longer texts at ${index.path} than an index of PostgreSQL takes, about 2,600 bytes`;
    throw new QueryError('too_large', ['field'], message);
  }
  if (kind === 'postgres') await sql`analyze feedback`.execute(db);
}

/**
 * Fixed statistics, as the other indexes have them by `../../db/migrations/0009-feedback-statistics.ts`: an index without any would be
 * taken for the best way to read a project. Open connections load them when the index is created.
 */
async function setStatistics({ maintenance }: Database, index: PayloadIndex): Promise<void> {
  const name = payloadIndexName(index);
  await sql`delete from sqlite_stat1 where idx = ${name}`.execute(maintenance);
  await sql`insert into sqlite_stat1 (tbl, idx, stat) values ('feedback', ${name}, '1000000 100000 1000 2 1')`.execute(
    maintenance,
  );
}

/** Drops the index if a build of it has failed or was killed: no query uses it, `if not exists` finds it, and writes pay for it. */
async function dropUnfinishedIndex(database: Database, index: PayloadIndex): Promise<void> {
  const { rows } = await sql`select 1 from pg_index join pg_class on pg_class.oid = indexrelid
    where relname = ${payloadIndexName(index)} and not indisvalid
      and not exists (select 1 from pg_stat_progress_create_index as build where build.index_relid = indexrelid)`.execute(
    database.maintenance,
  );
  if (rows.length > 0) await dropPayloadIndex(database, index);
}

/** Drops the index if it exists. */
export async function dropPayloadIndex({ maintenance }: Database, index: PayloadIndex): Promise<void> {
  await sql`drop index if exists ${sql.id(payloadIndexName(index))}`.execute(maintenance);
}
