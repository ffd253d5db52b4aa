// What the stores know of ClickHouse. `open-clickhouse.ts` opens one.

import type { CompiledQuery } from 'kysely';

export interface ClickHouse {
  /** Runs a statement that only reads. Throws: `QueryTimeoutError`, `ResultTooLargeError`, `ParameterTooLongError`. */
  read<Row>(statement: CompiledQuery<Row>, options?: ReadOptions): Promise<readonly Row[]>;
  /**
   * Inserts rows in one block: readers see all of them or none. When it rejects, none will appear later.
   * @param rows Objects by column name.
   */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** Runs a statement that gives no rows. */
  command(sql: string): Promise<void>;
  /** Throws: when it does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface ReadOptions {
  /** Also rows that were replaced or removed and are not merged away yet. */
  readonly withReplaced?: boolean;
}
