// Queries whose failures of storage are `StorageError`s, as those of the dialects are.

import type { QueryReader } from './database.ts';
import { isReadOnlyRefusal, type StorageError, toStorageError } from './storage-error.ts';

/** @param onFault Called with each storage fault. */
export function guardQueries(queries: QueryReader, onFault: (error: StorageError) => void): QueryReader {
  const guard = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      if (isReadOnlyRefusal(error)) throw error;
      const known = toStorageError(error);
      if (known !== error) onFault(known as StorageError);
      throw known;
    }
  };
  return {
    concurrency: queries.concurrency,
    readPage: (...query) => guard(queries.readPage(...query)),
    readRows: (...query) => guard(queries.readRows(...query)),
    close: () => queries.close(),
  };
}
