// Queries that report storage failures as `StorageError`s, as the dialects do.

import type { CompiledQuery } from 'kysely';
import type { QueryReader } from './database.ts';
import type { StorageDialectOptions } from './storage-dialect.ts';
import { isReaderRefusal, type StorageError, toStorageError } from './storage-error.ts';

/** @param onFault Called with each storage fault. */
export function guardQueries(
  queries: QueryReader,
  { onFault, trace = (_sql, work) => work() }: Pick<StorageDialectOptions, 'onFault' | 'trace'>,
): QueryReader {
  const guard = async <Result>({ sql }: CompiledQuery, work: () => Promise<Result>): Promise<Result> => {
    try {
      return (await trace(sql, work)) as Result;
    } catch (error) {
      if (isReaderRefusal(error)) throw error;
      const known = toStorageError(error);
      if (known !== error) onFault(known as StorageError);
      throw known;
    }
  };
  return {
    concurrency: queries.concurrency,
    readPage: (statement, ...rest) => guard(statement, () => queries.readPage(statement, ...rest)),
    readRows: (statement, ...rest) => guard(statement, () => queries.readRows(statement, ...rest)),
    close: () => queries.close(),
  };
}
