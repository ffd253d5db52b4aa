// A connection pool whose statements may not take for ever: with `query_timeout` the driver gives a statement up, but its connection
// goes on waiting for the server. Such a connection is closed, so that nobody else waits behind it.

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type pg from 'pg';
import { TIMED_OUT } from './statement-limit.ts';

type RunStatement = (text: string, values: readonly unknown[]) => Promise<PostgresQueryResult<unknown>>;

/** @param pool Has a `query_timeout`. */
export function boundStatements(pool: pg.Pool): PostgresPool {
  return {
    async connect() {
      return boundClient(await pool.connect());
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

function boundClient(client: pg.PoolClient): PostgresPoolClient {
  let failure: Error | undefined;
  const run: RunStatement = async (text, values) => {
    // The rollback of a transaction whose statement was given up.
    if (failure !== undefined) throw failure;
    try {
      return (await client.query(text, [...values])) as unknown as PostgresQueryResult<unknown>;
    } catch (error) {
      if ((error as Error).message === TIMED_OUT) failure = error as Error;
      throw error;
    }
  };
  return {
    query: run as PostgresPoolClient['query'],
    // A client released with an error is closed by the pool instead of reused.
    release: () => client.release(failure),
  };
}
