// Brings the tables up to date at every start. Several servers may start at once: all migrations run in one
// transaction behind a lock (PostgreSQL: an advisory lock; SQLite: the only writer), the others find them done.

import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { columnTypes } from './column-types.ts';
import type { DatabaseKind } from './database.ts';
import { messageOf } from './database-errors.ts';
import { MIGRATIONS } from './migrations/list.ts';

/** Runs what has not run yet. Throws: `Error` that says which step failed and why. */
export async function migrate<Schema>(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
  const types = columnTypes(kind);
  const migrations = Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, run]) => [
      name,
      { up: (trx: Kysely<unknown>) => run(trx, types) },
    ]),
  );
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results.find(({ status }) => status === 'Error')?.migrationName;
  const step = failed === undefined ? '' : ` (${failed})`;
  throw new Error(`the tables could not be brought up to date${step}: ${messageOf(error)}`, { cause: error });
}
