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

/** The data folder or the database in it cannot be used; the message says why and is meant for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** Opens or makes `<dataDir>/ortler.db`, readable by its owner only. Throws: `DatabaseError`. */
export async function openDatabase(dataDir: string): Promise<Kysely<Tables>> {
  try {
    return await openAndMigrate(dataDir);
  } catch (error) {
    throw new DatabaseError(`The data folder ${dataDir} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function openAndMigrate(dataDir: string): Promise<Kysely<Tables>> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, DATABASE_FILE);
  const database = openFile(file);
  await chmod(file, 0o600);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: toKyselyDatabase(database) }) });
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    await db.destroy();
    throw new Error(`${DATABASE_FILE} could not be brought up to date: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return db;
}

// A damaged file is noticed by the first statement. Throws: `Error` that names the file.
function openFile(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    // Several servers may start on one folder at the same moment: wait for each other instead of failing.
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = NORMAL');
    database.exec('PRAGMA foreign_keys = ON');
    return database;
  } catch (error) {
    database?.close();
    throw new Error(`${DATABASE_FILE}: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
