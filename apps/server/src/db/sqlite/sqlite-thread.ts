// Handle of one SQLite worker thread: sends statements, matches results, detects a thread that hangs or has exited.

import { Worker } from 'node:worker_threads';
import { entryModule, MessageTurns } from '@ortler/worker';
import {
  DatabaseLostError,
  QueryTimeoutError,
  ResultTooLargeError,
  SqliteError,
} from '../database-errors.ts';
import type { JsonPage, JsonPageOptions } from '../json-page.ts';
import type {
  SqliteThreadOptions,
  StatementRequest,
  StatementResult,
  ThreadReport,
} from './thread-messages.ts';

export interface SqliteThread {
  /** False after the thread has ended; a handle is never restarted. */
  readonly isAlive: boolean;
  /**
   * Throws: `SqliteError`; of a read `QueryTimeoutError` when it took too long, and the reason of its signal.
   * Its promise settles when the thread is free again or was given up.
   */
  run(sql: string, parameters: readonly unknown[], signal?: AbortSignal): Promise<StatementResult>;
  /** Like `run`; the rows become a page in the thread. */
  readPage(
    sql: string,
    parameters: readonly unknown[],
    options: JsonPageOptions,
    signal?: AbortSignal,
  ): Promise<JsonPage>;
  close(): Promise<void>;
  /** Ends the thread without waiting for its statement. */
  kill(): void;
}

/** A read that does not stop by itself, at its time limit or when it is aborted, is abandoned this much later. */
const GRACE_MS = 500;

interface Pending {
  readonly resolve: (result: StatementResult | JsonPage) => void;
  readonly reject: (error: Error) => void;
  /** Fires when the thread should have answered. */
  readonly timers: NodeJS.Timeout[];
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
}

/** Starts a thread with an open connection. Throws: `SqliteError` when the file cannot be used. */
export async function startSqliteThread(options: SqliteThreadOptions): Promise<SqliteThread> {
  const pending = new Map<number, Pending>();
  const abortedId = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { url, execArgv } = entryModule('./sqlite-worker', import.meta.url);
  const workerData = { ...options, abortedId } satisfies SqliteThreadOptions;
  const worker = new Worker(url, { workerData, execArgv: [...execArgv] });
  const opened = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  /** Why the thread has ended. */
  let ended: Error | undefined;
  let lastId = 0;

  const settle = (id: number, finish: (statement: Pending) => void) => {
    const statement = pending.get(id);
    if (statement === undefined) return;
    pending.delete(id);
    for (const timer of statement.timers) clearTimeout(timer);
    statement.signal?.removeEventListener('abort', statement.onAbort);
    finish(statement);
  };
  const end = (error: Error) => {
    ended ??= error;
    opened.reject(error);
    for (const id of [...pending.keys()]) settle(id, ({ reject }) => reject(error));
  };
  const turns = new MessageTurns();
  const receive = (report: ThreadReport) => {
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
      case 'page':
        return settle(report.id, ({ resolve }) => resolve(report.page));
      case 'aborted':
        return settle(report.id, ({ reject, signal }) => reject(signal!.reason as Error));
      case 'timed-out':
        return settle(report.id, ({ reject }) => reject(new QueryTimeoutError(options.readTimeLimitMs!)));
      case 'too-large':
        return settle(report.id, ({ reject }) => reject(new ResultTooLargeError('The rows are too large.')));
      case 'failed':
        return settle(report.id, ({ reject }) => reject(new SqliteError(report.message, report.errcode)));
    }
  };
  worker.on('message', report => turns.run(() => receive(report)));
  worker.once('error', error =>
    turns.run(() => end(new SqliteError(`The SQLite thread failed: ${error.message}`, undefined))),
  );
  worker.once('exit', () =>
    turns.run(() => {
      end(new SqliteError('The SQLite thread has ended.', undefined));
      exited.resolve();
    }),
  );

  // A running SQLite statement cannot be interrupted from outside: the thread is abandoned, and the pool starts another.
  const giveUp = (error: Error) => {
    end(error);
    void worker.terminate();
  };

  const send = <Result extends StatementResult | JsonPage>(
    { sql, parameters, page }: Pick<StatementRequest, 'sql' | 'page'> & { parameters: readonly unknown[] },
    signal: AbortSignal | undefined,
  ): Promise<Result> => {
    if (ended !== undefined) return Promise.reject(ended);
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    lastId += 1;
    const id = lastId;
    const { readTimeLimitMs } = options;
    const timers: NodeJS.Timeout[] = [];
    if (readTimeLimitMs !== undefined)
      timers.push(
        setTimeout(() => giveUp(new QueryTimeoutError(readTimeLimitMs)), readTimeLimitMs + GRACE_MS),
      );
    const onAbort = () => {
      Atomics.store(abortedId, 0, id);
      timers.push(setTimeout(() => giveUp(signal!.reason as Error), GRACE_MS));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    pending.set(id, {
      resolve: resolve as (result: StatementResult | JsonPage) => void,
      reject,
      timers,
      signal,
      onAbort,
    });
    worker.postMessage({ id, sql, parameters, page } as StatementRequest);
    return promise;
  };

  await opened.promise;
  return {
    get isAlive() {
      return ended === undefined;
    },
    run: (sql, parameters, signal) => send({ sql, parameters }, signal),
    readPage: (sql, parameters, page, signal) => send({ sql, parameters, page }, signal),
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
