// Cached SHA-256 of files. Hashing gigabytes at every start would be slow, so a stamp file stores each hash with the size,
// times and inode of its file.

import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ModelBuildError } from './errors.ts';
import { readFault } from './read-fault.ts';

const HASH_CHUNK_BYTES = 1 << 20;

/** Identity of a hashed file. Numbers are decimal text, times in nanoseconds. */
const fileStamp = z.object({
  size: z.string(),
  modified: z.string(),
  changed: z.string(),
  inode: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const stampFile = z.record(z.string(), fileStamp);

type FileStamp = z.infer<typeof fileStamp>;

/** Files of one folder, and the stamp file of their hashes. */
export interface FolderFiles {
  readonly folder: string;
  /** Relative to the folder. */
  readonly names: readonly string[];
  /** Stamp file that caches hashes between calls. Default: no cache. */
  readonly stampPath?: string | undefined;
}

export interface HashOptions {
  readonly onBytes?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Throws `StampMissingError` where a file would have to be read. Default: false. */
  readonly stampsOnly?: boolean | undefined;
}

/** A file has no stamp, or changed since it was stamped. */
export class StampMissingError extends Error {}

/**
 * Hex SHA-256 of each file, by folder and name. Files that did not change since they were hashed are not read again.
 *
 * Throws: `source_invalid`, the reason of `signal`, `StampMissingError`.
 */
export async function hashFolders(
  folders: readonly FolderFiles[],
  options: HashOptions,
): Promise<readonly ReadonlyMap<string, string>[]> {
  const surveys = await Promise.all(folders.map(surveyFolder));
  if (options.stampsOnly === true && surveys.some(({ pending }) => pending.length > 0))
    throw new StampMissingError('files have to be hashed');
  const totalBytes = surveys.reduce((sum, { pendingBytes }) => sum + pendingBytes, 0);
  let doneBytes = 0;
  const onBytes = (bytes: number) => {
    doneBytes += bytes;
    options.onBytes?.(doneBytes, totalBytes);
  };
  const hashes: ReadonlyMap<string, string>[] = [];
  for (const [i, { folder, names, stampPath }] of folders.entries()) {
    const { stamps, pending } = surveys[i]!;
    for (const name of pending) stamps[name] = await hashStamped(join(folder, name), options.signal, onBytes);
    if (stampPath !== undefined && pending.length > 0) await writeStamps(stampPath, stamps);
    hashes.push(new Map(names.map(name => [name, stamps[name]!.sha256])));
  }
  return hashes;
}

/** Finds the files of a folder whose hashes are not cached. */
async function surveyFolder({ folder, names, stampPath }: FolderFiles) {
  const known = stampPath === undefined ? {} : await readStamps(stampPath);
  const stamps: Record<string, FileStamp> = {};
  const pending: string[] = [];
  let pendingBytes = 0;
  for (const name of names) {
    const current = await stampOf(join(folder, name));
    const before = known[name];
    if (before !== undefined && isSameFile(before, current)) stamps[name] = before;
    else {
      pending.push(name);
      pendingBytes += Number(current.size);
    }
  }
  return { stamps, pending, pendingBytes };
}

async function hashStamped(
  path: string,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<FileStamp> {
  const before = await stampOf(path);
  const sha256 = await hashFile(path, signal, onBytes);
  const after = await stampOf(path);
  if (!isSameFile(before, after)) {
    throw new ModelBuildError('source_invalid', `${path} changed while it was read`, { file: path });
  }
  return { ...after, sha256 };
}

/** Reads through one buffer, because a stream would allocate one per chunk. */
async function hashFile(
  path: string,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  const buffer = new Uint8Array(HASH_CHUNK_BYTES);
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw readFault(path, cause);
  });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
      onBytes(bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function stampOf(path: string): Promise<Omit<FileStamp, 'sha256'>> {
  const stats = await stat(path, { bigint: true }).catch((cause: unknown) => {
    throw readFault(path, cause);
  });
  return {
    size: String(stats.size),
    modified: String(stats.mtimeNs),
    changed: String(stats.ctimeNs),
    inode: String(stats.ino),
  };
}

function isSameFile(a: Omit<FileStamp, 'sha256'>, b: Omit<FileStamp, 'sha256'>): boolean {
  return a.size === b.size && a.modified === b.modified && a.changed === b.changed && a.inode === b.inode;
}

/** A missing or unreadable stamp file counts as empty, so that everything is hashed again. */
async function readStamps(path: string): Promise<Readonly<Record<string, FileStamp>>> {
  try {
    return stampFile.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}

/**
 * Replaces the file atomically, because another process may write it at the same time. Failures are ignored, because they only
 * cost time at the next start: the cache may be read-only, and a full disk is reported when the build is written.
 */
async function writeStamps(path: string, stamps: Readonly<Record<string, FileStamp>>): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(temporary, JSON.stringify(stamps));
    await rename(temporary, path);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}
