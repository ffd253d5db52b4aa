// What the rest of the server knows of its database: one handle to write with, one to read with, and which dialect
// they speak. Stores take a Database; only open-database.ts knows how one is made.

import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** The SQL a database speaks. */
export type DatabaseKind = 'sqlite' | 'postgres';

export interface Database {
  readonly kind: DatabaseKind;
  /** Reads and writes. A write that has resolved survives the end of the process and of the machine. */
  readonly db: Kysely<Tables>;
  /** Reads only, off the main thread and under the time limit: for queries whose cost a client decides. */
  readonly reader: Kysely<Tables>;
  /**
   * Runs all statements of `work` or none. Inside, use only the given transaction: on SQLite a statement on `db`
   * would wait for it without end.
   */
  transaction<Result>(work: (trx: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** As `transaction`, while no other server runs work under the same name. */
  exclusively<Result>(name: string, work: (trx: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Whether it answers right now. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Puts the two handles together. */
export function createDatabase(kind: DatabaseKind, db: Kysely<Tables>, reader: Kysely<Tables>): Database {
  return {
    kind,
    db,
    reader,
    transaction: work => db.transaction().execute(work),
    exclusively: (name, work) =>
      db.transaction().execute(async trx => {
        // A SQLite transaction is the only one that writes anyway.
        if (kind === 'postgres')
          await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
        return work(trx);
      }),
    async ping() {
      await sql`select 1`.execute(db);
    },
    async close() {
      if (reader !== db) await reader.destroy();
      await db.destroy();
    },
  };
}
