// Whether PostgreSQL answers, and takes writes: a standby does not, nor does a server that its provider has set so when its disk was full.

import { type Kysely, sql } from 'kysely';
import type { DatabaseCondition } from '../database.ts';
import type { Tables } from '../tables.ts';

/** Never rejects. */
export async function readCondition(db: Kysely<Tables>): Promise<DatabaseCondition> {
  const statement = sql<{ readonly is_read_only: boolean }>`
    select current_setting('transaction_read_only')::boolean as is_read_only`;
  try {
    const { rows } = await statement.execute(db);
    return rows[0]?.is_read_only === true ? 'read_only' : 'ready';
  } catch {
    return 'unreachable';
  }
}
