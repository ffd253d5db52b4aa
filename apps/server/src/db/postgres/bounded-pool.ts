// A connection pool with limits on the size of a result and on its time. Row sizes are summed while rows arrive; a result above the
// limit closes the connection, because PostgreSQL would go on sending. So does one that does not end: its server is gone.

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { ResultTooLargeError } from '../database-errors.ts';
import { startStatementLimit } from './statement-limit.ts';

export interface AnswerLimits {
  /** Limit on the text of all rows of one result. Unit: UTF-16 code units. */
  readonly maxLength: number;
  /** Longer than the statement timeout, which PostgreSQL keeps itself. Unit: milliseconds. */
  readonly limitMs: number;
}

export function boundAnswers(pool: pg.Pool, limits: AnswerLimits): PostgresPool {
  return {
    async connect() {
      return boundClient(await pool.connect(), limits);
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

function boundClient(client: pg.PoolClient, { maxLength, limitMs }: AnswerLimits): PostgresPoolClient {
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
    const endLimit = startStatementLimit(limitMs, error => {
      failure = error;
      reject(error);
    });
    client.query(query);
    return promise.finally(endLimit);
  };
  return {
    query: ((text: string, values: readonly unknown[]) => run(text, values)) as PostgresPoolClient['query'],
    // A client released with an error is closed by the pool instead of reused.
    release: () => client.release(failure),
  };
}
