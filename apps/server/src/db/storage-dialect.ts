// A Kysely dialect that reports storage failures as `StorageError`s. Wraps the dialect of either database.

import type { CompiledQuery, DatabaseConnection, Dialect, Driver } from 'kysely';
import { isReaderRefusal, type StorageError, toStorageError } from './storage-error.ts';

/** Measures a statement of a database. */
export type StatementTrace = <Result>(
  system: string,
  sql: string,
  work: () => Promise<Result>,
) => Promise<Result>;

export interface StorageDialectOptions {
  /** Runs each statement, with the name of the database. Absent: they are not measured. */
  readonly trace?: ((sql: string, work: () => Promise<unknown>) => Promise<unknown>) | undefined;
  /** Called with each storage fault. */
  readonly onFault: (error: StorageError) => void;
  /** Whether the connections only read. */
  readonly isReader?: boolean;
  /** Throws where nothing may be written now. Called before each write, and before each transaction. */
  readonly beforeWrite?: () => void;
}

/** Wraps a dialect. */
export function createStorageDialect(dialect: Dialect, options: StorageDialectOptions): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => guardDriver(dialect.createDriver(), options),
    createIntrospector: db => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}

function guardDriver(
  driver: Driver,
  { onFault, isReader = false, beforeWrite = () => undefined, trace }: StorageDialectOptions,
): Driver {
  const guarded = new WeakSet<DatabaseConnection>();
  const guard = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (isReader && isReaderRefusal(error)) throw error;
      const known = toStorageError(error);
      if (known !== error) onFault(known as StorageError);
      throw known;
    }
  };
  // The connection keeps its identity, by which its driver knows it.
  const guardConnection = (connection: DatabaseConnection) => {
    if (guarded.has(connection)) return connection;
    guarded.add(connection);
    const execute = connection.executeQuery.bind(connection) as DatabaseConnection['executeQuery'];
    const executeGuarded: DatabaseConnection['executeQuery'] = (query, ...rest) =>
      guard(() => {
        if (!isRead(query)) beforeWrite();
        return execute(query, ...rest);
      });
    connection.executeQuery =
      trace === undefined
        ? executeGuarded
        : (((query, ...rest) =>
            trace(query.sql, () => executeGuarded(query, ...rest))) as DatabaseConnection['executeQuery']);
    return connection;
  };
  const { savepoint, rollbackToSavepoint, releaseSavepoint } = driver;
  return {
    init: options => driver.init(options),
    acquireConnection: options => guard(async () => guardConnection(await driver.acquireConnection(options))),
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    beginTransaction: (connection, settings) =>
      guard(async () => {
        beforeWrite();
        await driver.beginTransaction(connection, settings);
      }),
    commitTransaction: connection => guard(() => driver.commitTransaction(connection)),
    rollbackTransaction: connection => guard(() => driver.rollbackTransaction(connection)),
    destroy: options => driver.destroy(options),
    ...(savepoint && { savepoint: savepoint.bind(driver) }),
    ...(rollbackToSavepoint && { rollbackToSavepoint: rollbackToSavepoint.bind(driver) }),
    ...(releaseSavepoint && { releaseSavepoint: releaseSavepoint.bind(driver) }),
  };
}

/** Whether a statement only reads; also those that end a transaction, which come as raw SQL. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' || /^(rollback|pragma|select)\b/i.test(sql);
}
