// The interface of ClickHouse for the stores. open-clickhouse.ts implements it.

import type { CompiledQuery } from 'kysely';
import type { JsonPage, JsonPageOptions } from '../json-page.ts';

export interface ClickHouse {
  /** Runs a read-only statement. Throws: `QueryTimeoutError`, `ResultTooLargeError`, `ParameterTooLongError`. */
  read<Row>(statement: CompiledQuery<Row>, options?: ReadOptions): Promise<readonly Row[]>;
  /** Like `read`; the rows become a page as they arrive. */
  readPage(
    statement: CompiledQuery,
    options: JsonPageOptions,
    reading?: Pick<ReadOptions, 'signal'>,
  ): Promise<JsonPage>;
  /**
   * Inserts rows as one block: readers see all of them or none. After a rejection, none of them will appear later.
   * @param rows Objects by column name.
   */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** Runs a statement without a result. */
  command(sql: string): Promise<void>;
  /** Throws: when ClickHouse does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface ReadOptions {
  /** Reads without `final`: also older row versions and tombstones that are not merged yet. */
  readonly withReplaced?: boolean;
  /** Stops the read on the ClickHouse server. */
  readonly signal?: AbortSignal | undefined;
}
