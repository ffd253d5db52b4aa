// The lock of ClickHouse writers. ClickHouse has no locks, so the servers that share a transactional database lock
// there: PostgreSQL by an advisory lock, SQLite by the write lock of a separate file, so that the database itself stays
// free. A process that dies releases the lock.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import { createDatabaseFile } from '../sqlite/create-database-file.ts';
import { createThreadDialect } from '../sqlite/thread-dialect.ts';
import { createStorageDialect } from '../storage-dialect.ts';

export interface WriteLock {
  /** Runs `work` while holding the lock. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

const LOCK_FILE = 'clickhouse-writes.lock';

/**
 * Mutates: the disk, inside `dataDir`. Throws: errors of the file system.
 *
 * @param dataDir Folder of the SQLite database; unused with PostgreSQL.
 */
export async function createWriteLock(database: Database, dataDir: string): Promise<WriteLock> {
  if (database.kind === 'postgres')
    return {
      run: work => database.exclusively('clickhouse-writes', work),
      close: async () => undefined,
    };
  const file = join(dataDir, LOCK_FILE);
  if (!existsSync(file)) await createDatabaseFile(file);
  const dialect = createThreadDialect({ thread: { file }, threadCount: 1 });
  const lock = new Kysely<object>({ dialect: createStorageDialect(dialect, { onFault: () => undefined }) });
  return {
    run: work => lock.transaction().execute(work),
    close: () => lock.destroy(),
  };
}
