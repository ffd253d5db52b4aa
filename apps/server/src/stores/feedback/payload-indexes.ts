// Indexes on payload paths, made and dropped by the operator for the filters that are asked often.

import { createHash } from 'node:crypto';
import {
  type IndexReading,
  payloadIndexExpression,
  postgresDialect,
  sqliteDialect,
} from '@ortler/feedback-query';
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';

/** What is indexed. */
export interface PayloadIndex {
  /** `payload.output.score` */
  readonly path: string;
  /** The type of the literals that filters compare the path with. */
  readonly reading: IndexReading;
}

/** What can be done with indexes on payload paths. */
export interface PayloadIndexes {
  /** Makes the index unless it is there. Throws: `QueryError` for a path that cannot be indexed. */
  create(index: PayloadIndex): Promise<void>;
  /** Removes the index; one that is not there is no error. */
  drop(index: PayloadIndex): Promise<void>;
}

/** Indexes of SQLite and PostgreSQL. */
export function createPayloadIndexes(database: Database): PayloadIndexes {
  return {
    create: index => createPayloadIndex(database, index),
    drop: index => dropPayloadIndex(database, index),
  };
}

/** Name of the index: the same on every server. */
export function payloadIndexName({ path, reading }: PayloadIndex): string {
  const digest = createHash('sha256').update(`${reading} ${path}`).digest('hex').slice(0, 16);
  return `feedback_payload_${digest}`;
}

/**
 * Makes the index unless it is there, and lets the planner count its values. PostgreSQL goes on writing meanwhile; on
 * SQLite writers wait. Throws: `QueryError` for a path that cannot be indexed.
 */
export async function createPayloadIndex(database: Database, index: PayloadIndex): Promise<void> {
  const { kind, db } = database;
  const dialect = kind === 'sqlite' ? sqliteDialect : postgresDialect;
  const expression = sql.raw(payloadIndexExpression(index.path, index.reading, dialect));
  const name = sql.id(payloadIndexName(index));
  const concurrently = kind === 'postgres' ? sql`concurrently` : sql``;
  await sql`create index ${concurrently} if not exists ${name}
    on feedback (project_id, (${expression}), created_at, id)`.execute(db);
  await sql`analyze feedback`.execute(db);
  if (kind === 'sqlite') await announceNewCounts(database);
}

/**
 * Open SQLite connections, also those of a running server, read the counts again only when the schema changes. One
 * transaction: a view that a killed command left would make every later one fail.
 */
async function announceNewCounts(database: Database): Promise<void> {
  await database.transaction(async trx => {
    await sql`create view feedback_counts_changed as select 1`.execute(trx);
    await sql`drop view feedback_counts_changed`.execute(trx);
  });
}

/** Removes the index; one that is not there is no error. */
export async function dropPayloadIndex({ db }: Database, index: PayloadIndex): Promise<void> {
  await sql`drop index if exists ${sql.id(payloadIndexName(index))}`.execute(db);
}
