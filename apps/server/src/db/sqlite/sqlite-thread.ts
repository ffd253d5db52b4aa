// Handle of one SQLite worker thread: sends statements, matches results, detects a thread that hangs or has exited.

import { Worker } from 'node:worker_threads';
import {
  DatabaseLostError,
  QueryTimeoutError,
  ResultTooLargeError,
  SqliteError,
} from '../database-errors.ts';
import type {
  SqliteThreadOptions,
  StatementRequest,
  StatementResult,
  ThreadReport,
} from './thread-messages.ts';

export interface SqliteThread {
  /** False after the thread has ended; a handle is never restarted. */
  readonly isAlive: boolean;
  /** Throws: `SqliteError`, or `QueryTimeoutError` when a read took too long. */
  run(sql: string, parameters: readonly unknown[]): Promise<StatementResult>;
  close(): Promise<void>;
  /** Ends the thread without waiting for its statement. */
  kill(): void;
}

/** A read that does not stop at its time limit by itself is abandoned this much later. */
const GRACE_MS = 1_000;

interface Pending {
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

/** Starts a thread with an open connection. Throws: `SqliteError` when the file cannot be used. */
export async function startSqliteThread(options: SqliteThreadOptions): Promise<SqliteThread> {
  const isSource = import.meta.url.endsWith('.ts');
  const worker = new Worker(
    new URL(isSource ? './sqlite-worker.ts' : './sqlite-worker.js', import.meta.url),
    {
      workerData: options,
      execArgv: isSource ? ['--conditions=source'] : [],
    },
  );
  const pending = new Map<number, Pending>();
  const opened = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  /** Why the thread has ended. */
  let ended: Error | undefined;
  let lastId = 0;

  const settle = (id: number, finish: (statement: Pending) => void) => {
    const statement = pending.get(id);
    if (statement === undefined) return;
    pending.delete(id);
    clearTimeout(statement.timer);
    finish(statement);
  };
  const end = (error: Error) => {
    ended ??= error;
    opened.reject(error);
    for (const id of [...pending.keys()]) settle(id, ({ reject }) => reject(error));
  };
  worker.on('message', (report: ThreadReport) => {
    switch (report.kind) {
      case 'opened':
        return opened.resolve();
      case 'not-opened':
        return end(new SqliteError(report.message, report.errcode));
      case 'lost':
        end(new DatabaseLostError(report.message));
        void worker.terminate();
        return undefined;
      case 'result':
        return settle(report.id, ({ resolve }) => resolve(report.result));
      case 'timed-out':
        return settle(report.id, ({ reject }) => reject(new QueryTimeoutError(options.readTimeLimitMs!)));
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

  // A running SQLite statement cannot be interrupted from outside: the thread is abandoned, and the pool starts another.
  const giveUp = () => {
    end(new QueryTimeoutError(options.readTimeLimitMs!));
    void worker.terminate();
  };

  await opened.promise;
  return {
    get isAlive() {
      return ended === undefined;
    },
    run(sql, parameters) {
      if (ended !== undefined) return Promise.reject(ended);
      const { promise, resolve, reject } = Promise.withResolvers<StatementResult>();
      lastId += 1;
      const { readTimeLimitMs } = options;
      const timer =
        readTimeLimitMs === undefined ? undefined : setTimeout(giveUp, readTimeLimitMs + GRACE_MS);
      pending.set(lastId, { resolve, reject, timer });
      worker.postMessage({ id: lastId, sql, parameters } as StatementRequest);
      return promise;
    },
    async close() {
      ended ??= new SqliteError('The SQLite thread was closed.', undefined);
      worker.postMessage('close');
      await exited.promise;
    },
    kill() {
      end(new SqliteError('The SQLite thread was ended.', undefined));
      void worker.terminate();
    },
  };
}
