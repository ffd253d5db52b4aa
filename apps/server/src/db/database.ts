// The transactional database of the server: one Kysely handle for writes, one for reads with a time limit, and the
// SQL dialect. Stores receive a `Database`; only open-database.ts opens one.

import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { JsonPage, JsonPageOptions } from './json-page.ts';
import type { Tables } from './tables.ts';

/** The SQL dialect. */
export type DatabaseKind = 'sqlite' | 'postgres';

/** What is known of a database: `corrupt` and `lost` of a file only, `unreachable` and `read_only` of a server only. */
export type DatabaseCondition = 'ready' | 'unreachable' | 'read_only' | 'corrupt' | 'lost';

/**
 * Runs queries whose cost a caller decides, on connections of their own, so that they delay no other read. An aborted
 * query is stopped in the database and rejects with the reason of its signal.
 */
export interface QueryReader {
  /** Maximum number of queries that should run at once; the caller queues the others. */
  readonly concurrency: number;
  readPage(statement: CompiledQuery, options: JsonPageOptions, signal?: AbortSignal): Promise<JsonPage>;
  readRows<Row>(statement: CompiledQuery<Row>, signal?: AbortSignal): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export interface Database {
  readonly kind: DatabaseKind;
  /** Reads and writes. A write that has resolved is durable: it survives a crash and a power failure. */
  readonly db: Kysely<Tables>;
  /** Reads only, off the main thread and with a time limit. */
  readonly reader: Kysely<Tables>;
  readonly queries: QueryReader;
  /** For what an operator starts and what may take hours, such as an index: without the time limit that `db` may have. */
  readonly maintenance: Kysely<Tables>;
  /**
   * Runs all statements of `work` or none. Inside, use only the given transaction: on SQLite a statement on `db`
   * would deadlock.
   */
  transaction<Result>(work: (trx: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Like `transaction`, under a lock by name: no other server runs work with the same name at the same time. */
  exclusively<Result>(name: string, work: (trx: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Asked for each health report, within its time limit; costs little, and never waits for other statements. */
  condition(): Promise<DatabaseCondition>;
  close(): Promise<void>;
}

export interface DatabaseHandles extends Pick<Database, 'db' | 'reader' | 'queries' | 'condition'> {
  /** Default: `db`. */
  readonly maintenance?: Kysely<Tables>;
  /** Called before the handles are closed. */
  readonly onClose?: () => void | Promise<void>;
}

/** Combines the handles. */
export function createDatabase(
  kind: DatabaseKind,
  { db, reader, queries, maintenance = db, condition, onClose }: DatabaseHandles,
): Database {
  return {
    kind,
    db,
    reader,
    queries,
    maintenance,
    transaction: work => db.transaction().execute(work),
    exclusively: (name, work) =>
      db.transaction().execute(async trx => {
        // A SQLite transaction holds the only write lock already.
        if (kind === 'postgres')
          await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
        return work(trx);
      }),
    condition,
    async close() {
      await onClose?.();
      await queries.close();
      if (reader !== db) await reader.destroy();
      if (maintenance !== db) await maintenance.destroy();
      await db.destroy();
    },
  };
}
