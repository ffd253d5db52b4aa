// Refuses a database whose encoding cannot hold every text, or counts bytes where characters are meant.

import { type Kysely, sql } from 'kysely';

/** Throws: `Error`. */
export async function checkEncoding<Tables>(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ readonly encoding: string }>`
    select pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()`.execute(
    db,
  );
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  throw new Error(
    `its encoding is ${encoding} and must be UTF8: create it with \`encoding 'UTF8' template template0\``,
  );
}
