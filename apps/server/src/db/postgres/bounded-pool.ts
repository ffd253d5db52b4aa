// A connection pool with a limit on the size of a result. Row sizes are summed while rows arrive; a result above the
// limit closes the connection, because PostgreSQL would go on sending.

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { ResultTooLargeError } from '../database-errors.ts';

/** @param maxLength Limit on the text of all rows of one result. Unit: UTF-16 code units. */
export function boundAnswers(pool: pg.Pool, maxLength: number): PostgresPool {
  return {
    async connect() {
      return boundClient(await pool.connect(), maxLength);
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

function boundClient(client: pg.PoolClient, maxLength: number): PostgresPoolClient {
  let failure: Error | undefined;
  const run = <Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>> => {
    const { promise, resolve, reject } = Promise.withResolvers<PostgresQueryResult<Row>>();
    const rows: Row[] = [];
    let length = 0;
    const query = new pg.Query<Record<string, unknown>>({ text, values: [...values] });
    query.on('row', row => {
      if (failure !== undefined) return;
      for (const value of Object.values(row)) if (typeof value === 'string') length += value.length;
      rows.push(row as Row);
      if (length <= maxLength) return;
      failure = new ResultTooLargeError('The rows are too large.');
      rows.length = 0;
      reject(failure);
    });
    query.on('error', reject);
    query.on('end', ({ command, rowCount }) =>
      resolve({ command: command as PostgresQueryResult<Row>['command'], rowCount: rowCount ?? 0, rows }),
    );
    client.query(query);
    return promise;
  };
  return {
    query: ((text: string, values: readonly unknown[]) => run(text, values)) as PostgresPoolClient['query'],
    // A client released with an error is closed by the pool instead of reused.
    release: () => client.release(failure),
  };
}
