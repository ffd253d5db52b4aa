// Entry module of a SQLite worker thread: one connection that runs statements in sequence. Disk waits and scans
// happen here, so the event loop that serves requests never blocks.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '@ortler/worker';
import { DatabaseLostError, MAX_RESULT_LENGTH } from '../database-errors.ts';
import { type JsonPage, type JsonPageOptions, JsonPageWriter } from '../json-page.ts';
import { FileIdentity } from './file-identity.ts';
import { GUARDED_TABLES, GUARDS, type Guard, guardedName, READER_FUNCTIONS } from './guarded-tables.ts';
import {
  COMMIT,
  ROLLBACK,
  type SqliteThreadOptions,
  type StatementRequest,
  type StatementResult,
  type ThreadReport,
} from './thread-messages.ts';

/** Longest wait for the write lock of another process. */
const BUSY_TIMEOUT_MS = 5_000;
/** Negative means KiB: 64 MiB. Source: SQLite's default of 2 MB makes a cold scan seven times slower. */
const CACHE_SIZE = -65_536;
/**
 * A reader memory-maps this much of the file instead of copying pages, so a scan of a million rows takes a third less
 * time. It is the largest size that SQLite maps.
 */
const MAPPED_BYTES = 2_147_418_112;

class TimeLimitError extends Error {}
class AbortedError extends Error {}
class ResultLimitError extends Error {}

const {
  file,
  readTimeLimitMs,
  abortedId,
  survivesKillOnly = false,
  hasLowPriority = false,
} = workerData as SqliteThreadOptions;
if (hasLowPriority) lowerThreadPriority();
const report = (message: ThreadReport, transferred: ArrayBuffer[] = []): void =>
  parentPort!.postMessage(message, transferred);
let deadlineMs = Number.POSITIVE_INFINITY;
let runningId = 0;

/** Throws: when nobody waits for the running statement any more. */
function checkAborted(): void {
  if (abortedId !== undefined && Atomics.load(abortedId, 0) === runningId) throw new AbortedError();
}

function open(): DatabaseSync {
  const isReader = readTimeLimitMs !== undefined;
  const database = new DatabaseSync(file, { readOnly: isReader });
  try {
    // Several servers may start on one folder at the same time: they wait for each other instead of failing.
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.exec(`PRAGMA cache_size = ${CACHE_SIZE}`);
    if (isReader) {
      database.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
      guardTables(database);
    } else {
      database.exec('PRAGMA journal_mode = WAL');
      // Every commit is on disk before it is acknowledged, so it survives a power failure.
      database.exec(`PRAGMA synchronous = ${survivesKillOnly ? 'NORMAL' : 'FULL'}`);
      database.exec('PRAGMA foreign_keys = ON');
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

// SQLite cannot be interrupted from outside its thread. So a reader queries views whose WHERE clause calls a function
// from time to time, which throws after the deadline or when the caller has left. SQLite flattens such a view, so every
// index is still used.
function guardTables(database: DatabaseSync): void {
  const check = (): void => {
    if (performance.now() > deadlineMs) throw new TimeLimitError();
    checkAborted();
  };
  database.function(READER_FUNCTIONS.check, () => {
    check();
    return 1;
  });
  database.function(READER_FUNCTIONS.search, (input, needle) => {
    check();
    return input === null || needle === null ? null : String(input).indexOf(String(needle)) + 1;
  });
  for (const table of GUARDED_TABLES)
    for (const [guard, rowsPerCheck] of Object.entries(GUARDS))
      database.exec(
        `CREATE TEMP VIEW ${guardedName(table, guard as Guard)} AS SELECT * FROM main.${table}
         WHERE (rowid & ${rowsPerCheck - 1}) <> 0 OR ${READER_FUNCTIONS.check}()`,
      );
}

/** Nothing is read from, or acknowledged to be written to, a file that is no longer in its place. */
function checkIdentity(database: DatabaseSync, identity: FileIdentity, sql: string): void {
  if (database.isTransaction && sql !== COMMIT) return;
  if (readTimeLimitMs === undefined) identity.checkLog();
  else identity.check();
}

/** The last write. Nearly all statements to the file of usage are the same one, and parsing it takes as long as running it. */
let lastWrite: { readonly sql: string; readonly statement: StatementSync } | undefined;

/** A statement that reads is not kept: one that was stopped half way would hold the write-ahead log. */
function prepare(database: DatabaseSync, sql: string): StatementSync {
  if (lastWrite?.sql === sql) return lastWrite.statement;
  const statement = database.prepare(sql);
  if (statement.columns().length === 0) lastWrite = { sql, statement };
  return statement;
}

function run(database: DatabaseSync, { sql, parameters }: StatementRequest): StatementResult {
  // SQLite itself rolls a transaction back when the disk is full. A second rollback would fail, and its error would
  // hide the full disk in the log.
  if (sql === ROLLBACK && !database.isTransaction) return { rows: [], changedCount: 0 };
  const statement = prepare(database, sql);
  // Parameters are spread: an array or a Date as the only argument would be read as named parameters.
  if (statement.columns().length > 0) {
    const rows =
      readTimeLimitMs === undefined ? statement.all(...parameters) : readBounded(statement, parameters);
    return { rows, changedCount: 0 };
  }
  return { rows: [], changedCount: Number(statement.run(...parameters).changes) };
}

function readBounded(statement: StatementSync, parameters: readonly SQLInputValue[]): unknown[] {
  const rows: unknown[] = [];
  let length = 0;
  for (const row of statement.iterate(...parameters)) {
    for (const value of Object.values(row)) if (typeof value === 'string') length += value.length;
    if (length > MAX_RESULT_LENGTH) throw new ResultLimitError();
    rows.push(row);
  }
  return rows;
}

function readPage(
  database: DatabaseSync,
  { sql, parameters }: StatementRequest,
  options: JsonPageOptions,
): JsonPage {
  const writer = new JsonPageWriter(options);
  for (const row of database.prepare(sql).iterate(...parameters)) {
    checkAborted();
    if (!writer.add(row)) break;
  }
  return writer.end();
}

function answer(database: DatabaseSync, identity: FileIdentity, request: StatementRequest): void {
  const { id, page: pageOptions } = request;
  runningId = id;
  deadlineMs = performance.now() + (readTimeLimitMs ?? Number.POSITIVE_INFINITY);
  try {
    checkAborted();
    checkIdentity(database, identity, request.sql);
    if (pageOptions === undefined) report({ kind: 'result', id, result: run(database, request) });
    else {
      const page = readPage(database, request, pageOptions);
      report({ kind: 'page', id, page }, [page.text.buffer]);
    }
  } catch (error) {
    if (error instanceof DatabaseLostError) report({ kind: 'lost', message: error.message });
    else if (error instanceof AbortedError) report({ kind: 'aborted', id });
    else if (error instanceof TimeLimitError) report({ kind: 'timed-out', id });
    else if (error instanceof ResultLimitError) report({ kind: 'too-large', id });
    else {
      const { message, errcode } = error as Error & { readonly errcode?: number };
      report({ kind: 'failed', id, message, errcode });
    }
  }
}

try {
  // Before the file is opened, because SQLite creates one that is missing.
  const identity = new FileIdentity(file);
  const database = open();
  parentPort!.on('message', (request: StatementRequest | 'close') => {
    if (request !== 'close') return answer(database, identity, request);
    database.close();
    parentPort!.close();
  });
  report({ kind: 'opened' });
} catch (error) {
  const { message, errcode } = error as Error & { readonly errcode?: number };
  if (error instanceof DatabaseLostError) report({ kind: 'lost', message });
  else report({ kind: 'not-opened', message, errcode });
}
