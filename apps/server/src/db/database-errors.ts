// Failures of a database in one vocabulary for both dialects, so that no store looks at driver codes.

/** The database cannot be opened or brought up to date; the message says why and is meant for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** Which one failed. */
  readonly database: 'transactional' | 'clickhouse';

  constructor(message: string, options: ErrorOptions, database: DatabaseError['database'] = 'transactional') {
    super(message, options);
    this.database = database;
  }
}

/** A read took longer than the time limit and was stopped. */
export class QueryTimeoutError extends Error {
  override readonly name = 'QueryTimeoutError';
  /** Unit: milliseconds. */
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`The query took longer than ${limitMs} ms and was stopped.`);
    this.limitMs = limitMs;
  }
}

/** The rows of a read are larger than the server holds in memory at once. */
export class ResultTooLargeError extends Error {
  override readonly name = 'ResultTooLargeError';
}

/** A text of a read is longer than the database takes as a parameter. */
export class ParameterTooLongError extends Error {
  override readonly name = 'ParameterTooLongError';
}

/** A failure that SQLite reported in its thread, with SQLite's own code. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';
  /** Source: https://www.sqlite.org/rescode.html */
  readonly errcode: number | undefined;

  constructor(message: string, errcode: number | undefined) {
    super(message);
    this.errcode = errcode;
  }
}

/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const SQLITE_UNIQUE_CODES: readonly unknown[] = [1555, 2067];
const POSTGRES_UNIQUE_VIOLATION = '23505';
const POSTGRES_QUERY_CANCELED = '57014';

/** Whether a statement failed because a row with that key is there already. */
export function isUniqueViolation(error: unknown): boolean {
  const { errcode, code } = error as { readonly errcode?: unknown; readonly code?: unknown };
  return SQLITE_UNIQUE_CODES.includes(errcode) || code === POSTGRES_UNIQUE_VIOLATION;
}

/** Whether a read was stopped by the time limit. */
export function isQueryTimeout(error: unknown): boolean {
  return (
    error instanceof QueryTimeoutError ||
    (error as { readonly code?: unknown }).code === POSTGRES_QUERY_CANCELED
  );
}

/** Whether a read was stopped because of the size of its rows. */
export function isResultTooLarge(error: unknown): boolean {
  return error instanceof ResultTooLargeError;
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
