// Snapshots: the files of a commit as links to blobs, and the references that name commits.

import { link, lstat, mkdir, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { RepositoryFile } from '../protocol/repository-info.ts';
import { copyDurably, replaceFile } from './durable-files.ts';
import type { RepositoryFolder } from './layout.ts';

/** A whole commit hash, which needs no look-up. */
export const COMMIT = /^[0-9a-f]{40}$/;

/** The commit of a revision by the cache. Undefined where it has none. */
export async function readRef(folder: RepositoryFolder, revision: string): Promise<string | undefined> {
  if (COMMIT.test(revision)) return revision;
  const text = await readFile(folder.ref(revision), 'utf8').catch(() => '');
  const commit = text.trim();
  return COMMIT.test(commit) ? commit : undefined;
}

/** Mutates: the disk, unless the reference says so already. */
export async function writeRef(folder: RepositoryFolder, revision: string, commit: string): Promise<void> {
  if (COMMIT.test(revision) || (await readRef(folder, revision)) === commit) return;
  await replaceFile(folder.ref(revision), commit);
}

/** Paths of a snapshot's files that exist, links to missing blobs left out; with slashes, sorted. */
export async function listSnapshot(folder: RepositoryFolder, commit: string): Promise<readonly string[]> {
  const root = folder.snapshot(commit);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory() || (await sizeOf(path)) === undefined) continue;
    paths.push(relative(root, path).split(sep).join('/'));
  }
  return paths.toSorted();
}

/** Whether the snapshot has the file, in its announced size. */
export async function hasLink(
  folder: RepositoryFolder,
  commit: string,
  { path, size }: RepositoryFile,
): Promise<boolean> {
  return (await sizeOf(folder.link(commit, path))) === size;
}

/** Whether the blob is there, in its announced size. A blob gets its name after its hash was checked. */
export async function hasBlob(folder: RepositoryFolder, { hash, size }: RepositoryFile): Promise<boolean> {
  return (await sizeOf(folder.blob(hash))) === size;
}

/**
 * Shows a blob in the snapshot: as a relative symbolic link, or where there are none as a hard link or a copy.
 * Mutates: the disk.
 */
export async function linkFile(
  folder: RepositoryFolder,
  commit: string,
  { path, hash }: RepositoryFile,
  { allowsSymlinks }: { readonly allowsSymlinks: boolean },
): Promise<void> {
  const [blob, target] = [folder.blob(hash), folder.link(commit, path)];
  await mkdir(dirname(target), { recursive: true });
  // A dangling link, or a file of another size.
  if ((await lstat(target).catch(() => undefined)) !== undefined) await rm(target);
  if (allowsSymlinks && (await isDone(symlink(relative(dirname(target), blob), target)))) return;
  if (await isDone(link(blob, target))) return;
  await copyDurably(blob, target);
}

/** Codes of systems and disks without such links. */
const NO_LINKS = new Set([
  'EPERM',
  'EACCES',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EMLINK',
  'EXDEV',
  'UNKNOWN',
]);

async function isDone(linked: Promise<void>): Promise<boolean> {
  return linked.then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (NO_LINKS.has(error.code ?? '')) return false;
      throw error;
    },
  );
}

/** Undefined for no file. */
async function sizeOf(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() ? stats.size : undefined;
}
