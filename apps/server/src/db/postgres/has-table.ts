// Whether a table exists. `create table if not exists` needs the right to create one even where it exists, which a role that only reads
// and writes rows does not have.

import { type Kysely, sql } from 'kysely';

/** PostgreSQL only. */
export async function hasTable<Tables>(db: Kysely<Tables>, name: string): Promise<boolean> {
  const { rows } = await sql<{ readonly exists: boolean }>`
    select to_regclass(${name}) is not null as exists`.execute(db);
  return rows[0]?.exists === true;
}
