// Removes models from the cache: a repository, a revision of it, or one quantisation. Blobs that other files use stay. A
// snapshot disappears as a whole, by a rename, so that a process that is killed leaves none that looks complete.

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HubError } from '../errors.ts';
import { chooseGguf } from '../gguf-files.ts';
import { formatModelReference, type ModelReference, parseModelReference } from '../model-reference.ts';
import { DEFAULT_TUNING } from '../tuning.ts';
import { withFileLock } from './file-lock.ts';
import { RepositoryFolder } from './layout.ts';
import { COMMIT, listSnapshot, readRef } from './snapshot.ts';

export interface RemovedModel {
  readonly name: string;
  /** Disk space of the files that nothing else shares. */
  readonly bytes: number;
}

export interface RemoveOptions {
  readonly cacheDir: string;
  /** Count the bytes, and remove nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Another process downloads the model, and is waited for. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** Files of one snapshot that are removed. */
interface Target {
  readonly commit: string;
  readonly paths: readonly string[];
  readonly isWholeSnapshot: boolean;
}

const TRASH = '.ortler-removed-';

/**
 * `org/model` means all revisions with everything, `org/model@revision` one of them, `:QUANT` the files of a quantisation.
 * Mutates: the disk, unless `dryRun`. Throws: `reference_invalid`, `not_found`, the reason of `signal`.
 */
export async function removeCachedModel(
  text: string,
  { cacheDir, dryRun = false, signal, onNotice }: RemoveOptions,
): Promise<RemovedModel> {
  const reference = parseModelReference(text);
  const isOneRevision = text.includes('@') || text.includes('/tree/');
  const folder = new RepositoryFolder(cacheDir, reference.repository);
  const name =
    isOneRevision || reference.quant !== undefined ? formatModelReference(reference) : reference.repository;
  if ((await stat(folder.root).catch(() => undefined)) === undefined) throw notCached(name, cacheDir);
  const lock = {
    tuning: DEFAULT_TUNING,
    signal,
    onWait: () => onNotice?.(`Another process downloads ${reference.repository}; waiting for it.`),
  };
  return withFileLock(folder.lock, lock, async () => {
    if (!isOneRevision && reference.quant === undefined) {
      const bytes = await sumFiles(await listFiles(folder.root));
      if (!dryRun) await discard(cacheDir, folder.root);
      return { name, bytes };
    }
    const targets = await findTargets(folder, reference, isOneRevision);
    if (targets.length === 0) throw notCached(name, cacheDir);
    const unshared = await findUnsharedFiles(folder, targets);
    const bytes = await sumFiles(unshared);
    if (!dryRun) await removeTargets(cacheDir, folder, targets, unshared);
    return { name, bytes };
  });
}

async function findTargets(
  folder: RepositoryFolder,
  { repository, revision, quant }: ModelReference,
  isOneRevision: boolean,
): Promise<readonly Target[]> {
  const known = (await readdir(folder.snapshots).catch(() => [])).filter(name => COMMIT.test(name));
  const only = isOneRevision ? await readRef(folder, revision) : undefined;
  const targets: Target[] = [];
  for (const commit of known) {
    if (isOneRevision && commit !== only) continue;
    const all = await listSnapshot(folder, commit);
    const paths = quant === undefined ? all : shardsOf(repository, all, quant);
    if (paths.length > 0) targets.push({ commit, paths, isWholeSnapshot: paths.length === all.length });
  }
  return targets;
}

function shardsOf(repository: string, paths: readonly string[], quant: string): readonly string[] {
  try {
    return chooseGguf(repository, paths, quant).paths;
  } catch (error) {
    if (error instanceof HubError) return [];
    throw error;
  }
}

/** Files behind the targets that no other link of the repository leads to. */
async function findUnsharedFiles(
  folder: RepositoryFolder,
  targets: readonly Target[],
): Promise<readonly string[]> {
  const removed = new Set(
    targets.flatMap(({ commit, paths }) => paths.map(path => folder.link(commit, path))),
  );
  const [removedFiles, keptFiles] = [new Set<string>(), new Set<string>()];
  for (const link of await listFiles(folder.snapshots)) {
    const file = await realpath(link).catch(() => undefined);
    if (file !== undefined) (removed.has(link) ? removedFiles : keptFiles).add(file);
  }
  return [...removedFiles].filter(file => !keptFiles.has(file));
}

async function removeTargets(
  cacheDir: string,
  folder: RepositoryFolder,
  targets: readonly Target[],
  files: readonly string[],
): Promise<void> {
  for (const { commit, paths, isWholeSnapshot } of targets) {
    if (isWholeSnapshot) await discard(cacheDir, folder.snapshot(commit));
    else for (const path of paths) await rm(folder.link(commit, path), { force: true });
  }
  for (const file of files) await rm(file, { force: true });
}

/** Renames a folder out of sight, and then removes it, with the remains of calls that were killed. */
async function discard(cacheDir: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rename(path, join(cacheDir, `${TRASH}${randomBytes(4).toString('hex')}`));
  for (const name of await readdir(cacheDir))
    if (name.startsWith(TRASH)) await rm(join(cacheDir, name), { recursive: true, force: true });
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter(entry => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Each file once, whatever number of links lead to it. */
async function sumFiles(paths: readonly string[]): Promise<number> {
  const sizes = new Map<string, number>();
  for (const path of paths) {
    const stats = await stat(path).catch(() => undefined);
    if (stats !== undefined) sizes.set(`${stats.dev} ${stats.ino}`, Math.min(stats.size, stats.blocks * 512));
  }
  return sizes.values().reduce((sum, size) => sum + size, 0);
}

function notCached(name: string, cacheDir: string): HubError {
  return new HubError('not_found', `${name} is not in the cache ${cacheDir}.`);
}
