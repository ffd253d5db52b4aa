// The main thread's end of one SQLite thread: sends statements, matches replies, notices a thread that is stuck or gone.

import { Worker } from 'node:worker_threads';
import { QueryTimeoutError, ResultTooLargeError, SqliteError } from '../database-errors.ts';
import type { SqliteThreadOrder, StatementOrder, StatementResult, ThreadReport } from './thread-messages.ts';

export interface SqliteThread {
  /** False once the thread has ended; it never comes back. */
  readonly isAlive: boolean;
  /** Throws: `SqliteError`, or `QueryTimeoutError` when a read took too long. */
  run(sql: string, parameters: readonly unknown[]): Promise<StatementResult>;
  close(): Promise<void>;
}

/** A read that does not notice its time limit in the thread itself is given up this much later. */
const GRACE_MS = 1_000;

interface Pending {
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

/** Starts a thread with an open connection. Throws: `SqliteError` when the file cannot be used. */
export async function startSqliteThread(order: SqliteThreadOrder): Promise<SqliteThread> {
  const isSource = import.meta.url.endsWith('.ts');
  const worker = new Worker(
    new URL(isSource ? './sqlite-worker.ts' : './sqlite-worker.js', import.meta.url),
    {
      workerData: order,
      execArgv: isSource ? ['--conditions=source'] : [],
    },
  );
  const pending = new Map<number, Pending>();
  const opened = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  let isAlive = true;
  let lastId = 0;

  const settle = (id: number, finish: (statement: Pending) => void) => {
    const statement = pending.get(id);
    if (statement === undefined) return;
    pending.delete(id);
    clearTimeout(statement.timer);
    finish(statement);
  };
  const end = (error: Error) => {
    isAlive = false;
    opened.reject(error);
    for (const id of [...pending.keys()]) settle(id, ({ reject }) => reject(error));
  };
  worker.on('message', (report: ThreadReport) => {
    switch (report.kind) {
      case 'opened':
        return opened.resolve();
      case 'not-opened':
        return end(new SqliteError(report.message, undefined));
      case 'result':
        return settle(report.id, ({ resolve }) => resolve(report.result));
      case 'timed-out':
        return settle(report.id, ({ reject }) => reject(new QueryTimeoutError(order.readTimeLimitMs!)));
      case 'too-large':
        return settle(report.id, ({ reject }) => reject(new ResultTooLargeError('The rows are too large.')));
      case 'failed':
        return settle(report.id, ({ reject }) => reject(new SqliteError(report.message, report.errcode)));
    }
  });
  worker.once('error', error =>
    end(new SqliteError(`The SQLite thread failed: ${error.message}`, undefined)),
  );
  worker.once('exit', () => {
    end(new SqliteError('The SQLite thread has ended.', undefined));
    exited.resolve();
  });

  // The work it is stuck in cannot be stopped, so the thread is left to finish alone and another one takes its place.
  const giveUp = () => {
    end(new QueryTimeoutError(order.readTimeLimitMs!));
    void worker.terminate();
  };

  await opened.promise;
  return {
    get isAlive() {
      return isAlive;
    },
    run(sql, parameters) {
      if (!isAlive) return Promise.reject(new SqliteError('The SQLite thread has ended.', undefined));
      const { promise, resolve, reject } = Promise.withResolvers<StatementResult>();
      lastId += 1;
      const { readTimeLimitMs } = order;
      const timer =
        readTimeLimitMs === undefined ? undefined : setTimeout(giveUp, readTimeLimitMs + GRACE_MS);
      pending.set(lastId, { resolve, reject, timer });
      worker.postMessage({ id: lastId, sql, parameters } as StatementOrder);
      return promise;
    },
    async close() {
      isAlive = false;
      worker.postMessage('close');
      await exited.promise;
    },
  };
}
