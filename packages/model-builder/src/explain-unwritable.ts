// Why nothing can be written into a folder, in words for people. File system errors are poor witnesses: creating a folder below
// one that is read-only gives ENOENT or EACCES by system and version.

import { access, constants, readlink, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'is on a read-only file system',
  EACCES: 'may not be written by this user',
  EPERM: 'may not be written by this user',
};

/** The reason why a write into `folder`, or the creation of it, failed with `error`. */
export async function explainUnwritable(folder: string, error: unknown): Promise<string> {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full';
  const { path, fault } = await nearestExisting(resolve(folder));
  if (fault !== undefined) return `${path} ${fault}`;
  const denied = await access(path, constants.W_OK | constants.X_OK).then(
    () => undefined,
    (cause: NodeJS.ErrnoException) => REASONS[cause.code ?? ''],
  );
  const reason = denied ?? REASONS[code ?? ''];
  if (reason !== undefined) return `${path} ${reason}`;
  // A parent that is writable by its permissions and yet takes no folder, such as /proc.
  if (code === 'ENOENT' && path !== resolve(folder)) return `${path} takes no new folders`;
  return syscall === undefined ? String(code ?? error) : `${syscall} failed with ${code}`;
}

interface Existing {
  readonly path: string;
  /** Why it can hold no folder. */
  readonly fault?: string;
}

async function nearestExisting(path: string): Promise<Existing> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined) return found.isDirectory() ? { path } : { path, fault: 'is a file, not a folder' };
  // Such as one to a disk that is not mounted.
  const target = await readlink(path).catch(() => undefined);
  if (target !== undefined) return { path, fault: `is a link to ${target}, which cannot be reached` };
  const parent = dirname(path);
  return parent === path ? { path } : nearestExisting(parent);
}
