// Creates the tables of usage. Not a migration of the main database: on SQLite it is in a file of its own, because every answer
// waits for a write to it, and a long write to the main database would delay them all.

import type { Kysely } from 'kysely';
import { columnTypes } from '../../db/column-types.ts';
import type { DatabaseKind } from '../../db/database.ts';
import { hasTable } from '../../db/postgres/has-table.ts';
import type { UsageTables } from '../../db/tables/usage.ts';

/** What is counted. */
export const USAGE_COUNTS = [
  'request_count',
  'input_token_count',
  'cached_token_count',
  'output_token_count',
] as const;
/** What it is counted for. */
export const USAGE_KEYS = ['day', 'key_id', 'team', 'project', 'model'] as const;

/** Creates the tables that do not exist. */
export async function createUsageTables<Tables extends UsageTables>(
  db: Kysely<Tables>,
  kind: DatabaseKind,
): Promise<void> {
  // The last one that is created.
  if (kind === 'postgres' && (await hasTable(db, 'usage_writers'))) return;
  const { text, integer, tableEnd } = columnTypes(kind);
  let table = db.schema.createTable('usage').ifNotExists();
  for (const name of USAGE_KEYS)
    table = table.addColumn(name, text, column => column.notNull()) as typeof table;
  for (const name of USAGE_COUNTS)
    table = table.addColumn(name, integer, column => column.notNull()) as typeof table;
  await table
    .addPrimaryKeyConstraint('usage_key', [...USAGE_KEYS] as never)
    .modifyEnd(tableEnd)
    .execute();
  if (kind === 'sqlite') return;
  await db.schema
    .createTable('usage_writers')
    .ifNotExists()
    .addColumn('id', text, column => column.notNull().primaryKey())
    .addColumn('last_batch', integer, column => column.notNull())
    .addColumn('last_day', text, column => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
}
