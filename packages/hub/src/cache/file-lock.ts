// A lock between processes, such as one per repository: one downloads, the others wait and then use its files.
//
// Node has no flock. SQLite takes a lock of the operating system on a file, on every platform, and the system frees it with the
// process, however that ends: there are no stale locks to recognise. The file stays empty.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { HubError } from '../errors.ts';
import { DEFAULT_TUNING, type Tuning } from '../tuning.ts';

export interface LockOptions {
  /** Default: `DEFAULT_TUNING`. */
  readonly tuning?: Pick<Tuning, 'lockPollMs'>;
  readonly signal: AbortSignal | undefined;
  /** Another process holds the lock. Called once. */
  readonly onWait: () => void;
}

/** SQLITE_BUSY. Source: https://www.sqlite.org/rescode.html */
const BUSY = 5;

/** Runs `work` while holding the lock. Throws: `write_failed`, the reason of `signal`, and the errors of `work`. */
export async function withFileLock<T>(
  path: string,
  { tuning = DEFAULT_TUNING, signal, onWait }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  let isWaiting = false;
  let lock = tryLock(path);
  while (lock === undefined) {
    if (!isWaiting) onWait();
    isWaiting = true;
    await pause(tuning.lockPollMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    lock = tryLock(path);
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}

/** Undefined while another process, or other work of this one, holds the lock. */
function tryLock(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    if ((cause as { readonly errcode?: number }).errcode === BUSY) return undefined;
    throw new HubError('write_failed', `${path} cannot be locked: ${(cause as Error).message}.`, { cause });
  }
}
