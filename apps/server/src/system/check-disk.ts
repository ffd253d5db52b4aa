// The disk of the data folder, for /health: whether a file can be written there, and how much space is left.

import { randomBytes } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * - `low`: less free space than the configured limit.
 * - `full`: nothing can be written any more, because the disk or a quota is full.
 * - `unwritable`: the folder takes no files: read-only, no permission, an input or output error.
 * - `missing`: the folder does not exist.
 */
export type DiskState = 'ok' | 'low' | 'full' | 'unwritable' | 'missing';

export interface DiskReport {
  readonly state: DiskState;
  /** Free space for this user. Absent where it is unknown. */
  readonly free_bytes?: number;
}

/** Written as a trial: a page of SQLite and more. */
const TRIAL = Buffer.alloc(16_384);

/** Writes and removes a small file in `folder`. Never rejects. */
export async function checkDisk(folder: string, lowBytes: number): Promise<DiskReport> {
  const freeBytes = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
  const fault = await tryToWrite(join(folder, `.health-${process.pid}-${randomBytes(4).toString('hex')}`));
  const isLow = freeBytes !== undefined && freeBytes < lowBytes;
  const state = fault ?? (isLow ? 'low' : 'ok');
  return { state, ...(freeBytes !== undefined && { free_bytes: freeBytes }) };
}

async function tryToWrite(path: string): Promise<DiskState | undefined> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.write(TRIAL);
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
    return code === 'ENOENT' ? 'missing' : 'unwritable';
  }
}
