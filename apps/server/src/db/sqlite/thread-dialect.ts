// Kysely's SQLite dialect over worker threads. A connection is one thread. Transactions begin with `begin immediate`,
// because one that reads first and writes later would fail if another process wrote in between.

import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type SqliteThread, startSqliteThread } from './sqlite-thread.ts';
import { COMMIT, ROLLBACK, type SqliteThreadOptions } from './thread-messages.ts';

export interface ThreadDialectOptions {
  readonly thread: SqliteThreadOptions;
  /** Size of the thread pool; 1 for a writer. Threads start on first use. */
  readonly threadCount: number;
}

/** Creates the dialect. */
export function createThreadDialect(options: ThreadDialectOptions): Dialect {
  return {
    createAdapter: () => new ThreadAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: db => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class ThreadAdapter extends SqliteAdapter {
  // The driver is a pool: it gives each thread to one user at a time.
  override get supportsMultipleConnections(): boolean {
    return true;
  }
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function createDriver({ thread, threadCount }: ThreadDialectOptions): Driver {
  const idle: ThreadConnection[] = [];
  const waiting: ((connection: ThreadConnection) => void)[] = [];
  let connectionCount = 0;
  let isDestroyed = false;
  const allReleased = Promise.withResolvers<void>();
  const run = (connection: DatabaseConnection, sql: string) =>
    connection.executeQuery(CompiledQuery.raw(sql));

  return {
    async init() {},
    async acquireConnection() {
      const free = idle.pop();
      if (free !== undefined) return free.renewed();
      if (connectionCount < threadCount) {
        connectionCount += 1;
        return new ThreadConnection(thread);
      }
      const { promise, resolve } = Promise.withResolvers<ThreadConnection>();
      waiting.push(resolve);
      return promise;
    },
    async releaseConnection(connection) {
      const next = waiting.shift();
      if (next !== undefined) return next((connection as ThreadConnection).renewed());
      idle.push(connection as ThreadConnection);
      if (isDestroyed && idle.length === connectionCount) allReleased.resolve();
    },
    async beginTransaction(connection) {
      await run(connection, 'begin immediate');
    },
    async commitTransaction(connection) {
      await run(connection, COMMIT);
    },
    async rollbackTransaction(connection) {
      await run(connection, ROLLBACK);
    },
    // An open thread keeps the process alive, so connections in use are awaited.
    async destroy() {
      isDestroyed = true;
      if (idle.length < connectionCount) await allReleased.promise;
      for (const connection of idle.splice(0)) await connection.close();
    },
  };
}

/** One thread, started on its first statement. */
class ThreadConnection implements DatabaseConnection {
  readonly #options: SqliteThreadOptions;
  #thread: SqliteThread | undefined;

  constructor(options: SqliteThreadOptions) {
    this.#options = options;
  }

  /** A lost thread is replaced only between two users: the rest of a transaction must fail, not start over. */
  renewed(): this {
    if (this.#thread?.isAlive === false) this.#thread = undefined;
    return this;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    this.#thread ??= await startSqliteThread(this.#options);
    const { rows, changedCount } = await this.#thread.run(sql, parameters);
    return { rows: rows as Row[], numAffectedRows: BigInt(changedCount) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Rows are read page by page: a SQLite thread has no open cursors.');
  }

  async close(): Promise<void> {
    if (this.#thread?.isAlive === true) await this.#thread.close();
  }
}
