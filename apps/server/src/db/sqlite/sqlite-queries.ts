// Caller-priced queries on SQLite: reader threads of their own. A thread that had to be given up is replaced by a new one.

import type { QueryReader } from '../database.ts';
import { type SqliteThread, startSqliteThread } from './sqlite-thread.ts';
import type { SqliteThreadOptions } from './thread-messages.ts';

/** @param options `concurrency` bounds the threads as long as the caller keeps to it. */
export function createSqliteQueries(
  thread: SqliteThreadOptions,
  { concurrency }: Pick<QueryReader, 'concurrency'>,
): QueryReader {
  const idle: SqliteThread[] = [];
  const running = new Set<Promise<unknown>>();

  const withThread = async <Result>(work: (thread: SqliteThread) => Promise<Result>): Promise<Result> => {
    const free = idle.pop() ?? (await startSqliteThread(thread));
    try {
      return await work(free);
    } finally {
      if (free.isAlive) idle.push(free);
    }
  };
  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    running.add(work);
    const forget = () => void running.delete(work);
    work.then(forget, forget);
    return work;
  };

  return {
    concurrency,
    readPage: ({ sql, parameters }, options, signal) =>
      track(withThread(reader => reader.readPage(sql, parameters, options, signal))),
    readRows: <Row>(
      { sql, parameters }: { sql: string; parameters: readonly unknown[] },
      signal?: AbortSignal,
    ) =>
      track(withThread(async reader => (await reader.run(sql, parameters, signal)).rows as readonly Row[])),
    async close() {
      await Promise.allSettled(running);
      for (const free of idle.splice(0)) await free.close();
    },
  };
}
