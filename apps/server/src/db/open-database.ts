// Opens the embedded database under the data folder and brings its tables up to date.

import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { apiKeysMigration } from './migrations/0001-api-keys.ts';
import { toKyselyDatabase } from './node-sqlite.ts';
import type { Tables } from './tables.ts';

export const DATABASE_FILE = 'ortler.db';

/** How long a statement waits for another process that writes. */
const BUSY_TIMEOUT_MS = 5_000;

const MIGRATIONS = { '0001-api-keys': apiKeysMigration };

/** Opens or makes `<dataDir>/ortler.db`, readable by its owner only. Throws: when a migration fails. */
export async function openDatabase(dataDir: string): Promise<Kysely<Tables>> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, DATABASE_FILE);
  const database = new DatabaseSync(file);
  // Several servers may start on one folder at the same moment: wait for each other instead of failing.
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('PRAGMA foreign_keys = ON');
  await chmod(file, 0o600);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: toKyselyDatabase(database) }) });
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    await db.destroy();
    throw new Error(`The database ${file} could not be brought up to date.`, { cause: error });
  }
  return db;
}
