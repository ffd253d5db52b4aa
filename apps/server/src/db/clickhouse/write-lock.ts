// Whose turn it is to write to ClickHouse, which has no locks of its own: the servers that share the transactional database
// take turns through it. On SQLite a file of its own keeps the turn, so that the database itself stays free; a process
// that dies gives its turn back.

import { join } from 'node:path';
import { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import { createThreadDialect } from '../sqlite/thread-dialect.ts';

export interface WriteLock {
  /** Runs `work` while no other server runs work. */
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
    dialect: createThreadDialect({ order: { file: join(dataDir, LOCK_FILE) }, threadCount: 1 }),
  });
  return {
    run: work => lock.transaction().execute(work),
    close: () => lock.destroy(),
  };
}
