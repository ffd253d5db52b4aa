// The embedded SQLite database: one file in the data folder, one writer thread and several reader threads.

import { chmod, mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { explainUnwritable } from '@ortler/model-builder';
import { Kysely } from 'kysely';
import { createDatabase, type Database } from '../database.ts';
import { DatabaseError, messageOf } from '../database-errors.ts';
import { guardQueries } from '../guard-queries.ts';
import { migrate } from '../migrate.ts';
import { createStorageDialect, type StatementTrace, type StorageDialectOptions } from '../storage-dialect.ts';
import { StorageError } from '../storage-error.ts';
import type { Tables } from '../tables.ts';
import { findDatabaseFile } from './check-database-file.ts';
import { createDatabaseFile } from './create-database-file.ts';
import { FileCondition } from './file-condition.ts';
import { createSqliteQueries } from './sqlite-queries.ts';
import { createThreadDialect } from './thread-dialect.ts';

export const DATABASE_FILE = 'ortler.db';

/** Two, so that one slow query does not make every other one wait. */
const READER_COUNT = 2;
/**
 * Threads for queries whose cost a caller decides; a team uses half of them. Not more than cores, so that one team's queries leave a
 * core to the event loop, and not less than 2, so that another team's find a thread.
 */
const QUERY_READER_COUNT = Math.max(2, Math.min(4, availableParallelism()));

/** How long a start waits for the check of the file; that of a large one ends while the server runs. Unit: milliseconds. */
const START_CHECK_MS = 5_000;

/** Opens or creates `<dataDir>/ortler.db`, readable by its owner only. Throws: `DatabaseError`. */
export async function openSqlite(
  dataDir: string,
  queryTimeLimitMs: number,
  trace?: StatementTrace,
): Promise<Database> {
  try {
    return await openAndMigrate(dataDir, queryTimeLimitMs, trace);
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

async function openAndMigrate(
  dataDir: string,
  readTimeLimitMs: number,
  traceStatement: StatementTrace | undefined,
): Promise<Database> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, DATABASE_FILE);
  const condition = new FileCondition(file);
  const trace = traceStatement?.bind(undefined, 'sqlite');
  const guard = { onFault: condition.noteFault, beforeWrite: condition.refuseWrites, trace };
  const db = openHandle({ thread: { file }, threadCount: 1 }, guard);
  try {
    await checkFile(file, condition);
    await migrate(db, 'sqlite');
  } catch (error) {
    condition.close();
    await db.destroy();
    const cause = error instanceof StorageError && error.cause !== undefined ? error.cause : error;
    throw new Error(`${DATABASE_FILE}: ${messageOf(cause)}`, { cause });
  }
  const reader = openHandle(
    { thread: { file, readTimeLimitMs }, threadCount: READER_COUNT },
    { onFault: condition.noteFault, isReader: true, trace },
  );
  const queries = createSqliteQueries(
    { file, readTimeLimitMs, hasLowPriority: true },
    { concurrency: QUERY_READER_COUNT },
  );
  return createDatabase('sqlite', {
    db,
    reader,
    queries: guardQueries(queries, { onFault: condition.noteFault, trace }),
    condition: () => condition.read(),
    onClose: () => condition.close(),
  });
}

async function checkFile(file: string, condition: FileCondition): Promise<void> {
  if (!(await findDatabaseFile(file))) await createDatabaseFile(file);
  await chmod(file, 0o600);
  const damage = await condition.checkPages(START_CHECK_MS);
  if (damage === undefined) return;
  throw new Error(
    `the file is damaged (${damage}); restore it from a backup, or try \`sqlite3 FILE .recover\``,
  );
}

function openHandle(
  options: Parameters<typeof createThreadDialect>[0],
  guard: StorageDialectOptions,
): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: createStorageDialect(createThreadDialect(options), guard) });
}
