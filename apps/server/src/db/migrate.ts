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
  const schema = kind === 'postgres' ? await findSchema(db) : undefined;
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    ...(schema !== undefined && { migrationTableSchema: schema }),
  });
  await refuseOtherTables(db, { known: Object.keys(migrations), schema });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results.find(({ status }) => status === 'Error')?.migrationName;
  const step = failed === undefined ? '' : ` (${failed})`;
  throw new Error(`the tables could not be brought up to date${step}: ${messageOf(error)}`, { cause: error });
}

/** Kysely's table of applied migrations. */
const DONE_TABLE = 'kysely_migration';

/**
 * The schema of the tables on PostgreSQL: the one whose table of migrations is found by its name, else the one where tables are created.
 * Kysely would take such a table of any schema for this one.
 */
async function findSchema<Schema>(db: Kysely<Schema>): Promise<string> {
  const { rows } = await sql<{ readonly name: string | null }>`select coalesce(
    (select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where pg_class.oid = to_regclass(${DONE_TABLE})),
    current_schema()) as name`.execute(db);
  const name = rows[0]?.name ?? null;
  if (name === null) throw new Error('no schema of its search_path exists');
  return name;
}

/**
 * Throws: `Error` when a newer version of the server has applied migrations that this version does not know, and when another program
 * keeps its migrations in this schema.
 */
async function refuseOtherTables<Schema>(
  db: Kysely<Schema>,
  { known, schema }: { readonly known: readonly string[]; readonly schema: string | undefined },
): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const isDone = tables.some(
    ({ name, schema: its }) => name === DONE_TABLE && (schema === undefined || its === schema),
  );
  if (!isDone) return;
  const { rows } = await sql<{ readonly name: string }>`select name from ${sql.table(DONE_TABLE)}`.execute(
    db,
  );
  const unknown = rows.map(({ name }) => name).filter(name => !known.includes(name));
  if (unknown.length === 0) return;
  if (unknown.length === rows.length)
    throw new Error(`its table ${DONE_TABLE} is that of another program (${unknown.join(', ')})`);
  throw new Error(
    `its tables were made by a newer version of Ortler (${unknown.join(', ')}); start that one, or one after it`,
  );
}
