// The embedded SQLite database: one file in the data folder, one writer thread and several reader threads.

import { chmod, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { explainUnwritable } from '@ortler/model-builder';
import { Kysely } from 'kysely';
import { createDatabase, type Database } from '../database.ts';
import { DatabaseError, messageOf } from '../database-errors.ts';
import { migrate } from '../migrate.ts';
import type { Tables } from '../tables.ts';
import { createThreadDialect } from './thread-dialect.ts';

export const DATABASE_FILE = 'ortler.db';

/** Two, so that one slow query does not make every other one wait. */
const READER_COUNT = 2;

/** Opens or creates `<dataDir>/ortler.db`, readable by its owner only. Throws: `DatabaseError`. */
export async function openSqlite(dataDir: string, queryTimeLimitMs: number): Promise<Database> {
  try {
    return await openAndMigrate(dataDir, queryTimeLimitMs);
  } catch (error) {
    throw new DatabaseError(`The data folder ${dataDir} cannot be used: ${await reasonOf(error, dataDir)}`, {
      cause: error,
    });
  }
}

/** File system errors are explained by the folder; errors of SQLite say enough themselves. */
async function reasonOf(error: unknown, dataDir: string): Promise<string> {
  const { cause = error } = error as Error;
  const isFileError = (cause as NodeJS.ErrnoException).syscall !== undefined;
  return isFileError ? `${await explainUnwritable(dataDir, cause)}.` : messageOf(error);
}

async function openAndMigrate(dataDir: string, readTimeLimitMs: number): Promise<Database> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, DATABASE_FILE);
  const db = openHandle({ thread: { file }, threadCount: 1 });
  try {
    await makePrivate(file);
    await migrate(db, 'sqlite');
  } catch (error) {
    await db.destroy();
    throw new Error(`${DATABASE_FILE}: ${messageOf(error)}`, { cause: error });
  }
  const reader = openHandle({ thread: { file, readTimeLimitMs }, threadCount: READER_COUNT });
  return createDatabase('sqlite', db, reader);
}

// The file gets its permissions while it is empty; SQLite copies them to its WAL and shared-memory files.
async function makePrivate(file: string): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  await handle.close();
  await chmod(file, 0o600);
}

function openHandle(options: Parameters<typeof createThreadDialect>[0]): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: createThreadDialect(options) });
}
