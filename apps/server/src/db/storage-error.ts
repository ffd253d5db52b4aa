// Failures of storage that are not the caller's fault, as callers of the API see them: a full disk, a database that is gone, broken or
// does not answer. Databases throw them in place of their drivers' errors, so a write that was not stored is never acknowledged.

import { ApiError } from '@ortler/api';
import { DatabaseLostError, isQueryTimeout, SqliteError } from './database-errors.ts';

/**
 * - `full`: there is no space for the write.
 * - `corrupt`: the database file contradicts itself.
 * - `lost`: the database file was removed or replaced.
 * - `unreachable`: the database does not answer.
 * - `read-only`: it takes no writes now.
 * - `busy`: another process has held the write lock of the database file for too long.
 */
export type StorageFault = 'full' | 'corrupt' | 'lost' | 'unreachable' | 'read-only' | 'busy';

const MESSAGES: Readonly<Record<StorageFault, string>> = {
  full: 'Nothing was stored, because the disk of the server is full.',
  corrupt: 'The database of the server is damaged, and must be restored by its operator.',
  lost: 'The data folder of the server is gone, and must be restored by its operator.',
  unreachable: 'The database of the server does not answer.',
  'read-only': 'The database of the server takes no writes now.',
  busy: 'The database of the server is busy: another process writes to it.',
};

/** When a client should try again. Unit: milliseconds. */
const RETRY_MS: Readonly<Record<StorageFault, number>> = {
  full: 30_000,
  corrupt: 30_000,
  lost: 30_000,
  unreachable: 2_000,
  'read-only': 2_000,
  busy: 2_000,
};

/** Becomes 503 with Retry-After. The cause has the words of the driver, for the log. */
export class StorageError extends ApiError {
  readonly fault: StorageFault;

  constructor(fault: StorageFault, cause?: unknown) {
    const reason = fault === 'full' ? 'storage_full' : 'storage_unavailable';
    super(reason, MESSAGES[fault], { retryAfterMs: RETRY_MS[fault], cause });
    this.fault = fault;
  }
}

/** The storage fault behind a driver's error; anything else is returned unchanged. */
export function toStorageError(error: unknown): unknown {
  if (error instanceof StorageError) return error;
  const fault = faultOf(error);
  return fault === undefined ? error : new StorageError(fault, error);
}

/** Primary result codes. Source: https://www.sqlite.org/rescode.html */
const SQLITE_FAULTS: Readonly<Record<number, StorageFault>> = {
  5: 'busy', // SQLITE_BUSY
  8: 'read-only', // SQLITE_READONLY
  10: 'unreachable', // SQLITE_IOERR
  11: 'corrupt', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'unreachable', // SQLITE_CANTOPEN
  26: 'corrupt', // SQLITE_NOTADB
};

/** Classes and codes of SQLSTATE. Source: PostgreSQL's documentation, appendix A. */
const POSTGRES_FAULTS: readonly (readonly [prefix: string, fault: StorageFault])[] = [
  ['53100', 'full'],
  ['08', 'unreachable'], // connection exception
  ['25006', 'read-only'], // a standby after a failover
  ['53300', 'unreachable'], // too many connections
  ['57P0', 'unreachable'], // shutdown, crash, start-up
  ['57014', 'unreachable'], // time limit of a statement
  ['XX001', 'corrupt'],
  ['XX002', 'corrupt'],
];

/** What is no fault of storage where the connection only reads: a write is a fault of the program, the time limit one of the query. */
export function isReaderRefusal(error: unknown): boolean {
  const { errcode, code } = error as { readonly errcode?: unknown; readonly code?: unknown };
  return errcode === 8 || code === '25006' || isQueryTimeout(error);
}

const FULL_DISK: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
const NO_CONNECTION: readonly unknown[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
];
/** Errors of the PostgreSQL driver that have no code. */
const LOST_CONNECTION =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

function faultOf(error: unknown): StorageFault | undefined {
  if (error instanceof DatabaseLostError) return 'lost';
  // The low byte of an extended code is the primary one.
  if (error instanceof SqliteError)
    return error.errcode === undefined ? undefined : SQLITE_FAULTS[error.errcode & 0xff];
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (FULL_DISK.includes(code)) return 'full';
  if (NO_CONNECTION.includes(code) || LOST_CONNECTION.test(error.message)) return 'unreachable';
  if (typeof code !== 'string' || code.length !== 5) return undefined;
  return POSTGRES_FAULTS.find(([prefix]) => code.startsWith(prefix))?.[1];
}
