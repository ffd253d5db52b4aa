// Creates the table of shared rate limits. Not a migration: only PostgreSQL has several servers.

import { type Kysely, sql } from 'kysely';
import { columnTypes } from '../../db/column-types.ts';
import { hasTable } from '../../db/postgres/has-table.ts';
import type { RateLimitTables } from '../../db/tables/rate-limits.ts';

/** Creates the table if it does not exist. */
export async function createRateLimitTable<Tables extends RateLimitTables>(
  db: Kysely<Tables>,
): Promise<void> {
  if (await hasTable(db, 'rate_limit_uses')) return;
  const { text, integer } = columnTypes('postgres');
  await db.schema
    .createTable('rate_limit_uses')
    .ifNotExists()
    .addColumn('server', text, column => column.notNull())
    .addColumn('round', integer, column => column.notNull())
    .addColumn('account', text, column => column.notNull())
    .addColumn('request_count', integer, column => column.notNull())
    .addColumn('token_count', integer, column => column.notNull())
    .addColumn('at', 'timestamptz', column => column.notNull().defaultTo(sql`now()`))
    .addPrimaryKeyConstraint('rate_limit_uses_key', ['server', 'round', 'account'] as never)
    .execute();
  await db.schema
    .createIndex('rate_limit_uses_at')
    .ifNotExists()
    .on('rate_limit_uses')
    .column('at' as never)
    .execute();
}
