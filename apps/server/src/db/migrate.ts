// Brings the tables up to date at every start. Several servers may start at once: all migrations run in one
// transaction behind a lock (PostgreSQL: an advisory lock; SQLite: the only writer), the others find them done.

import { type Kysely, sql } from 'kysely';
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
  await refuseNewerTables(db, Object.keys(migrations));
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results.find(({ status }) => status === 'Error')?.migrationName;
  const step = failed === undefined ? '' : ` (${failed})`;
  throw new Error(`the tables could not be brought up to date${step}: ${messageOf(error)}`, { cause: error });
}

/** Kysely's own table of what has run. */
const DONE_TABLE = 'kysely_migration';

/** Throws: `Error` when a newer version made steps that this one does not have: going on would lose what they are for. */
async function refuseNewerTables<Schema>(db: Kysely<Schema>, known: readonly string[]): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DONE_TABLE)) return;
  const { rows } = await sql<{ readonly name: string }>`select name from ${sql.table(DONE_TABLE)}`.execute(
    db,
  );
  const strange = rows.map(({ name }) => name).filter(name => !known.includes(name));
  if (strange.length === 0) return;
  throw new Error(
    `its tables were made by a newer version of Ortler (${strange.join(', ')}); start that one, or one after it`,
  );
}
