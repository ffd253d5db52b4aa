// Runs pending migrations at every start. Several servers may start at once: all migrations run in one transaction
// under a lock (PostgreSQL: an advisory lock; SQLite: the write lock), so each runs once.

import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { columnTypes } from './column-types.ts';
import type { DatabaseKind } from './database.ts';
import { messageOf } from './database-errors.ts';
import { MIGRATIONS } from './migrations/list.ts';

/** Runs pending migrations. Throws: `Error` that names the failed migration and the cause. */
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

/** Kysely's table of applied migrations. */
const DONE_TABLE = 'kysely_migration';

/** Throws: `Error` when a newer version of the server has applied migrations that this version does not know. */
async function refuseNewerTables<Schema>(db: Kysely<Schema>, known: readonly string[]): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DONE_TABLE)) return;
  const { rows } = await sql<{ readonly name: string }>`select name from ${sql.table(DONE_TABLE)}`.execute(
    db,
  );
  const unknown = rows.map(({ name }) => name).filter(name => !known.includes(name));
  if (unknown.length === 0) return;
  throw new Error(
    `its tables were made by a newer version of Ortler (${unknown.join(', ')}); start that one, or one after it`,
  );
}
