// Errors of every database, in one vocabulary: stores never look at driver codes.

/** The database cannot be opened or migrated. The message is meant for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** The database that failed. */
  readonly database: 'transactional' | 'clickhouse';

  constructor(message: string, options: ErrorOptions, database: DatabaseError['database'] = 'transactional') {
    super(message, options);
    this.database = database;
  }
}

/** A read exceeded the time limit and was stopped. */
export class QueryTimeoutError extends Error {
  override readonly name = 'QueryTimeoutError';
  /** Unit: milliseconds. */
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`The query took longer than ${limitMs} ms and was stopped.`);
    this.limitMs = limitMs;
  }
}

/**
 * Largest answer of one read, on every database, because all rows of an answer are in memory at once. The texts of all
 * rows together. Unit: UTF-16 code units, of which 64 Mi are at most 128 MiB.
 */
export const MAX_RESULT_LENGTH = 64 * 1024 * 1024;

/** The rows of a read are larger than `MAX_RESULT_LENGTH`. */
export class ResultTooLargeError extends Error {
  override readonly name = 'ResultTooLargeError';
}

/** A text of a query is longer than the largest parameter of the database. */
export class ParameterTooLongError extends Error {
  override readonly name = 'ParameterTooLongError';
}

/** An error of SQLite from its worker thread, with SQLite's error code. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';
  /** Source: https://www.sqlite.org/rescode.html */
  readonly errcode: number | undefined;

  constructor(message: string, errcode: number | undefined) {
    super(message);
    this.errcode = errcode;
  }
}

/** The database file was removed or replaced while it was open: what is written to it would be lost. */
export class DatabaseLostError extends Error {
  override readonly name = 'DatabaseLostError';
}

/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const SQLITE_UNIQUE_CODES: readonly unknown[] = [1555, 2067];
const POSTGRES_UNIQUE_VIOLATION = '23505';
const POSTGRES_QUERY_CANCELED = '57014';
const POSTGRES_DEADLOCK_DETECTED = '40P01';
const POSTGRES_PROGRAM_LIMIT_EXCEEDED = '54000';

/** Whether a statement violated a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  const { errcode, code } = error as { readonly errcode?: unknown; readonly code?: unknown };
  return SQLITE_UNIQUE_CODES.includes(errcode) || code === POSTGRES_UNIQUE_VIOLATION;
}

/** Whether a row has texts that are too long for an index: PostgreSQL takes about 2,700 bytes for all columns of one. */
export function isIndexEntryTooLong(error: unknown): boolean {
  return (
    (error as { readonly code?: unknown }).code === POSTGRES_PROGRAM_LIMIT_EXCEEDED &&
    messageOf(error).includes('index row')
  );
}

/** Another transaction changed what this one relied on. Run again, it can succeed. */
export class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

/** Whether a transaction was undone because of another one, and can succeed when it is run again. */
export function isLostRace(error: unknown): boolean {
  return (
    error instanceof LostRaceError ||
    (error as { readonly code?: unknown }).code === POSTGRES_DEADLOCK_DETECTED
  );
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

/** The address of a database for messages and logs: its password is replaced by asterisks, also one that is a parameter. */
export function withoutPassword(text: string): string {
  const url = new URL(text);
  if (url.password !== '') url.password = '***';
  if (url.searchParams.has('password')) url.searchParams.set('password', '***');
  return url.href;
}
