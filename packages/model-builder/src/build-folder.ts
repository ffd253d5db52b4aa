// Atomic output folders: a build is written into a temporary folder, which is renamed when it is complete.

import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

const MARK = '.building-';

/** A build of another machine on a shared disk counts as abandoned after this long without a write. */
const STALE_AFTER_MS = 60 * 60 * 1000;

/** Creates a temporary folder beside `outputDir`; its name identifies the host and process of the build. */
export async function createBuildFolder(outputDir: string): Promise<string> {
  const owner = `${safeHostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const folder = join(dirname(outputDir), `${basename(outputDir)}${MARK}${owner}`);
  await mkdir(dirname(outputDir), { recursive: true });
  await mkdir(folder);
  return folder;
}

/** Removes a finished folder. It leaves its name at once, so no process finds half of it. */
export async function removeBuildFolder(outputDir: string): Promise<void> {
  const owner = `${safeHostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const folder = `${outputDir}${MARK}${owner}`;
  await rename(outputDir, folder);
  await rm(folder, { recursive: true, force: true });
}

/** Writes a file and syncs it to disk. */
export async function writeDurably<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'wx');
  try {
    const result = await write(file);
    await file.sync();
    return result;
  } finally {
    await file.close();
  }
}

/**
 * Renames a finished folder to its final name.
 *
 * Returns false, and keeps the build folder, when the name is taken because another build finished first.
 */
export async function publishBuildFolder(folder: string, outputDir: string): Promise<boolean> {
  await syncFolder(folder);
  try {
    await rename(folder, outputDir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') return false;
    // Windows reports a taken name as a lack of permission.
    if (code === 'EPERM' && (await exists(outputDir))) return false;
    throw error;
  }
  await syncFolder(dirname(outputDir));
  return true;
}

/**
 * Whether an intact finished folder exists. A folder that is not intact was damaged after its build, and is removed. Existence
 * is checked first, so that a folder that another process finishes in between is not removed. Mutates: the disk, at
 * `outputDir`.
 */
export async function keepIntactFolder(
  outputDir: string,
  isIntact: () => Promise<boolean>,
): Promise<boolean> {
  if (!(await exists(outputDir))) return false;
  if (await isIntact()) return true;
  await rm(outputDir, { recursive: true, force: true });
  return false;
}

/**
 * Removes the folders of killed builds in `parentDir`: all of them, or those of one output folder. Running builds are kept.
 */
export async function removeAbandonedBuilds(
  parentDir: string,
  now: number,
  outputName?: string,
): Promise<void> {
  const names = await readdir(parentDir).catch(() => []);
  for (const name of names) {
    if (outputName !== undefined && !name.startsWith(`${outputName}${MARK}`)) continue;
    const owner = /\.building-(.+)-(\d+)-[0-9a-f]{8}$/.exec(name);
    if (owner === null) continue;
    const folder = join(parentDir, name);
    const isOurs = owner[1] === safeHostname();
    const isDead = isOurs && !isProcessAlive(Number(owner[2]));
    if (isDead || now - (await lastWriteMs(folder, now)) > STALE_AFTER_MS) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Latest change of a folder or of a file in it. Unit: milliseconds since 1970. */
async function lastWriteMs(folder: string, now: number): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const stats = await Promise.all(
    [folder, ...names.map(name => join(folder, name))].map(path => stat(path).catch(() => undefined)),
  );
  const times = stats.flatMap(entry => (entry === undefined ? [] : [entry.mtimeMs]));
  return times.length === 0 ? now : Math.max(...times);
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Signal 0 only tests for existence; a process of another user fails with EPERM.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Makes renames and new names in a folder survive a power cut. Windows cannot open folders and does not need it. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function safeHostname(): string {
  return hostname().replace(/[^\w.]/g, '_');
}

/** Whether the path exists. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
