// Weights folders of a team hold files of the team only: every file is looked at by its real path, so that a link to a single file of
// another team leads nowhere. What is no file (a named pipe, a socket) is refused too: opening one may take for ever, and occupy one of
// the few threads by which all of the server reads files. Callers: registration of a checkpoint, and each build of one.

import { readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';

/**
 * The first file of `folder` whose real path is outside the folder of its team, that leads nowhere, or that is neither a file nor a
 * folder; undefined when there is none, or no such folder.
 * @param roots Folders that the weights may be in, the narrowest first. Weights in none of them are confined to their own folder.
 */
export async function findOutside(folder: string, roots: readonly string[]): Promise<string | undefined> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return undefined;
  const realRoots = await Promise.all(roots.map(root => realpath(root).catch(() => undefined)));
  const root = realRoots.find(each => each !== undefined && isInside(each, real)) ?? real;
  for (const name of await readdir(real, { recursive: true })) {
    const path = await realpath(join(real, name)).catch(() => undefined);
    if (path === undefined || !isInside(root, path)) return name;
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined || !(stats.isFile() || stats.isDirectory())) return name;
  }
  return undefined;
}

/** Whether `path` is `root` or below it. Both are absolute and without links. */
export function isInside(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside === '' || !(isAbsolute(inside) || /^\.\.([/\\]|$)/.test(inside));
}
