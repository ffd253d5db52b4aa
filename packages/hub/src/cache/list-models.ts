// The models of the cache, with their sizes.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { chooseFiles, hasGraphs } from '../choose-files.ts';
import { HubError } from '../errors.ts';
import { chooseGguf, listQuants } from '../gguf-files.ts';
import { DEFAULT_REVISION, formatModelReference } from '../model-reference.ts';
import { PARTIAL_SUFFIX, RepositoryFolder, repositoryOfFolder } from './layout.ts';
import { listSnapshot } from './snapshot.ts';

export interface CachedEntry {
  /** A name that `fetchModel` and `removeCachedModel` take. */
  readonly name: string;
  readonly repository: string;
  /** `onnx`: exported graphs; `other`: files of another program that are not built; `partial`: a download that has not ended. */
  readonly kind: 'safetensors' | 'gguf' | 'adapter' | 'onnx' | 'other' | 'partial';
  readonly bytes: number;
  /** Absent where no snapshot has files. */
  readonly commit?: string;
}

/** Sorted by name. Folders of datasets and spaces are left out. */
export async function listCachedModels(cacheDir: string): Promise<readonly CachedEntry[]> {
  const names = await readdir(cacheDir).catch(() => []);
  const entries: CachedEntry[] = [];
  for (const name of names.toSorted()) {
    const repository = repositoryOfFolder(name);
    if (repository !== undefined)
      entries.push(...(await listRepository(new RepositoryFolder(cacheDir, repository), repository)));
  }
  return entries;
}

async function listRepository(folder: RepositoryFolder, repository: string): Promise<readonly CachedEntry[]> {
  const revisions = await readRevisions(folder);
  const commits = await readdir(folder.snapshots).catch(() => []);
  const entries: CachedEntry[] = [];
  for (const commit of commits.toSorted()) {
    const revision = revisions.get(commit) ?? commit;
    entries.push(...(await listCommit(folder, { repository, commit, revision })));
  }
  const partialBytes = await countPartialBytes(folder);
  if (partialBytes > 0) entries.push({ name: repository, repository, kind: 'partial', bytes: partialBytes });
  return entries;
}

async function listCommit(
  folder: RepositoryFolder,
  snapshot: { readonly repository: string; readonly commit: string; readonly revision: string },
): Promise<readonly CachedEntry[]> {
  const { repository, commit } = snapshot;
  const paths = await listSnapshot(folder, commit);
  if (paths.length === 0) return [];
  const sizeOf = async (some: readonly string[]) => {
    const sizes = await Promise.all(some.map(async path => (await stat(folder.link(commit, path))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  const entries: CachedEntry[] = [];
  const isGguf = (path: string) => /\.gguf$/i.test(path);
  for (const quant of listQuants(paths)) {
    const name = formatModelReference({ ...snapshot, quant });
    const files = ifWhole(() => chooseGguf(repository, paths, quant).paths);
    if (files !== undefined)
      entries.push({ name, repository, kind: 'gguf', bytes: await sizeOf(files), commit });
  }
  const others = paths.filter(path => !isGguf(path));
  const readText = (path: string) => readFile(folder.link(commit, path), 'utf8');
  const chosen = await chooseFiles({ repository, paths: others, quant: undefined, readText }).catch(error => {
    if (error instanceof HubError) return undefined;
    throw error;
  });
  if (chosen !== undefined || entries.length === 0)
    entries.push({
      name: formatModelReference(snapshot),
      repository,
      kind: chosen?.kind ?? (hasGraphs(others) ? 'onnx' : 'other'),
      bytes: await sizeOf(others.length === 0 ? paths : others),
      commit,
    });
  return entries;
}

/** A revision for each commit that one names; the default where several do. */
async function readRevisions(folder: RepositoryFolder): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder.refs, { recursive: true, withFileTypes: true }).catch(() => []);
  const revisions = new Map<string, string>();
  for (const entry of entries) {
    if (!entry.isFile() || entry.name.endsWith('.tmp')) continue;
    const path = join(entry.parentPath, entry.name);
    const revision = relative(folder.refs, path).split(sep).join('/');
    const commit = (await readFile(path, 'utf8').catch(() => '')).trim();
    if (revision === DEFAULT_REVISION || !revisions.has(commit)) revisions.set(commit, revision);
  }
  return revisions;
}

/** Disk space of partial blobs, which is less than their length while they have holes. */
async function countPartialBytes(folder: RepositoryFolder): Promise<number> {
  const names = (await readdir(folder.blobs).catch(() => [])).filter(name => name.endsWith(PARTIAL_SUFFIX));
  const sizes = await Promise.all(
    names.map(async name => {
      const { size, blocks } = await stat(join(folder.blobs, name));
      return Math.min(size, blocks * 512);
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function ifWhole<T>(choose: () => T): T | undefined {
  try {
    return choose();
  } catch (error) {
    if (error instanceof HubError) return undefined;
    throw error;
  }
}
