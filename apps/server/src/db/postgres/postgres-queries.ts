// Caller-priced queries on PostgreSQL: a connection pool of their own with a statement timeout. Rows become text as they
// arrive. An aborted query is cancelled in the server, and its connection is closed: nobody else may meet the cancellation.

import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { QueryReader } from '../database.ts';
import { MAX_RESULT_LENGTH, ResultTooLargeError } from '../database-errors.ts';
import { JsonPageWriter } from '../json-page.ts';
import { startStatementLimit } from './statement-limit.ts';

type Row = Readonly<Record<string, unknown>>;

/** The `pid` of a connection, which the types of pg leave out. */
type Backend = { readonly processID: number };

export interface PostgresQueriesOptions {
  /** Longer than the statement timeout, which PostgreSQL keeps itself. Unit: milliseconds. */
  readonly limitMs: number;
  /** Runs `pg_cancel_backend` on another connection. */
  readonly cancelBackend: (processId: number) => Promise<void>;
}

export function createPostgresQueries(
  pool: pg.Pool,
  { limitMs, cancelBackend }: PostgresQueriesOptions,
): QueryReader {
  /** @param onRow False: no further rows are wanted. */
  const read = async (
    { sql, parameters }: CompiledQuery,
    signal: AbortSignal | undefined,
    onRow: (row: Row) => boolean,
  ): Promise<void> => {
    signal?.throwIfAborted();
    const client = await pool.connect();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      const { processID } = client as unknown as Backend;
      cancelBackend(processID).then(
        () => reject(signal!.reason as Error),
        () => reject(signal!.reason as Error),
      );
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const endLimit = startStatementLimit(limitMs, reject);
    let isWhole = false;
    try {
      const query = new pg.Query<Row>({ text: sql, values: [...parameters] });
      let isWanted = true;
      query.on('row', row => {
        if (!isWanted) return;
        try {
          isWanted = onRow(row);
          if (!isWanted) resolve();
        } catch (error) {
          isWanted = false;
          reject(error as Error);
        }
      });
      query.on('error', error => reject(signal?.aborted === true ? (signal.reason as Error) : error));
      query.on('end', () => {
        isWhole = isWanted;
        resolve();
      });
      if (signal?.aborted === true) onAbort();
      client.query(query);
      await promise;
    } finally {
      endLimit();
      signal?.removeEventListener('abort', onAbort);
      // With `true` the pool closes the connection, so PostgreSQL stops sending.
      client.release(!isWhole || signal?.aborted === true);
    }
  };

  return {
    concurrency: pool.options.max,
    async readPage(statement, options, signal) {
      const writer = new JsonPageWriter(options);
      await read(statement, signal, row => writer.add(row));
      return writer.end();
    },
    async readRows<Result>(statement: CompiledQuery<Result>, signal?: AbortSignal) {
      const rows: Row[] = [];
      let length = 0;
      await read(statement, signal, row => {
        for (const value of Object.values(row)) if (typeof value === 'string') length += value.length;
        if (length > MAX_RESULT_LENGTH) throw new ResultTooLargeError('The rows are too large.');
        rows.push(row);
        return true;
      });
      return rows as unknown as readonly Result[];
    },
    close: () => pool.end(),
  };
}
