// The lock of ClickHouse writers. ClickHouse has no locks, so the servers that share a transactional database lock
// there: PostgreSQL by an advisory lock, SQLite by the write lock of a separate file, so that the database itself stays
// free. A process that dies releases the lock.

import { join } from 'node:path';
import { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import { createThreadDialect } from '../sqlite/thread-dialect.ts';

export interface WriteLock {
  /** Runs `work` while holding the lock. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

const LOCK_FILE = 'clickhouse-writes.lock';

/** @param dataDir Folder of the SQLite database; unused with PostgreSQL. */
export function createWriteLock(database: Database, dataDir: string): WriteLock {
  if (database.kind === 'postgres')
    return {
      run: work => database.exclusively('clickhouse-writes', work),
      close: async () => undefined,
    };
  const lock = new Kysely<object>({
    dialect: createThreadDialect({ thread: { file: join(dataDir, LOCK_FILE) }, threadCount: 1 }),
  });
  return {
    run: work => lock.transaction().execute(work),
    close: () => lock.destroy(),
  };
}
