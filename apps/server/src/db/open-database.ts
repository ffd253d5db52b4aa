// Opens and migrates the configured database: PostgreSQL when a URL is given (several servers may share it), else
// SQLite in the data folder.

import type { Database } from './database.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { StatementTrace } from './storage-dialect.ts';

/** Database settings of the configuration. */
export interface DatabaseOptions {
  readonly dataDir: string;
  /** `postgres://...`; absent: SQLite. */
  readonly databaseUrl?: string | undefined;
  /** Longest read of `reader`. Unit: milliseconds. */
  readonly queryTimeLimitMs: number;
  /** Measures each statement. Default: none is measured. */
  readonly trace?: StatementTrace | undefined;
}

/** Throws: `DatabaseError` when the folder or the PostgreSQL server cannot be used. */
export async function openDatabase({
  dataDir,
  databaseUrl,
  queryTimeLimitMs,
  trace,
}: DatabaseOptions): Promise<Database> {
  if (databaseUrl === undefined) return openSqlite(dataDir, queryTimeLimitMs, trace);
  // Most servers have no PostgreSQL, and start without its modules.
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return openPostgres(databaseUrl, queryTimeLimitMs, trace);
}
