// Kysely's SQLite dialect over SQLite threads. A connection is one thread; transactions take the write lock when they
// begin, because one that reads first and writes later would fail as soon as another process wrote in between.

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
import { ROLLBACK, type SqliteThreadOrder } from './thread-messages.ts';

export interface ThreadDialectOptions {
  readonly order: SqliteThreadOrder;
  /** Threads that run statements at the same time; a writer has one. They start when they are first needed. */
  readonly threadCount: number;
}

/** Makes the dialect. */
export function createThreadDialect(options: ThreadDialectOptions): Dialect {
  return {
    createAdapter: () => new ThreadAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: db => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class ThreadAdapter extends SqliteAdapter {
  // The driver hands each thread to one user at a time by itself.
  override get supportsMultipleConnections(): boolean {
    return true;
  }
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function createDriver({ order, threadCount }: ThreadDialectOptions): Driver {
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
        return new ThreadConnection(order);
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
      await run(connection, 'commit');
    },
    async rollbackTransaction(connection) {
      await run(connection, ROLLBACK);
    },
    // A thread that is left open keeps the process alive, so those in use are waited for.
    async destroy() {
      isDestroyed = true;
      if (idle.length < connectionCount) await allReleased.promise;
      for (const connection of idle.splice(0)) await connection.close();
    },
  };
}

/** One thread, started by its first statement. */
class ThreadConnection implements DatabaseConnection {
  readonly #order: SqliteThreadOrder;
  #thread: SqliteThread | undefined;

  constructor(order: SqliteThreadOrder) {
    this.#order = order;
  }

  /** A lost thread is replaced between two users only: inside a transaction the rest must fail, not start over. */
  renewed(): this {
    if (this.#thread?.isAlive === false) this.#thread = undefined;
    return this;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    this.#thread ??= await startSqliteThread(this.#order);
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
