// Opens the database of the configuration and brings its tables up to date: PostgreSQL when a URL is given, which
// several servers may share, else SQLite in the data folder.

import type { Database } from './database.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';

/** The part of the configuration that a database needs. */
export interface DatabaseOptions {
  readonly dataDir: string;
  /** `postgres://...`; absent: SQLite. */
  readonly databaseUrl?: string | undefined;
  /** Longest read of `reader`. Unit: milliseconds. */
  readonly queryTimeLimitMs: number;
}

/** Throws: `DatabaseError` for a folder or a server that cannot be used. */
export function openDatabase({ dataDir, databaseUrl, queryTimeLimitMs }: DatabaseOptions): Promise<Database> {
  return databaseUrl === undefined
    ? openSqlite(dataDir, queryTimeLimitMs)
    : openPostgres(databaseUrl, queryTimeLimitMs);
}
