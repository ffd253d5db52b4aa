// Removes built models from a cache by age and size. A build is made again from its checkpoint when it is needed.

import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { removeBuildFolder } from './build-folder.ts';

/** Names that `ensureModel` gives: kind, and the first half of the content hash. */
const BUILD_NAME = /^[a-z0-9-]+-([0-9a-f]{32})$/;

/** A build that was used within this time may be loading in another process. Unit: milliseconds. */
const RECENT_USE_MS = 60 * 60 * 1000;

export interface BuiltFolder {
  readonly path: string;
  readonly bytes: number;
  /** Unit: milliseconds since 1970. */
  readonly usedAtMs: number;
}

export interface PruneRule {
  /** Builds that were not used for this long are removed. Default: no limit. */
  readonly maxAgeMs?: number | undefined;
  /** The least recently used ones are removed until the rest has at most this size. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** The least recently used ones are removed until at least this much is. Default: 0. */
  readonly neededBytes?: number | undefined;
}

export interface PruneOptions extends PruneRule {
  readonly cacheDir: string;
  /** Paths of builds that are in use. */
  readonly inUse?: readonly string[];
  /** Unit: milliseconds since 1970. */
  readonly now: number;
  /** Removes nothing. Default: false. */
  readonly isDryRun?: boolean;
}

export interface PruneResult {
  readonly removed: readonly BuiltFolder[];
  readonly kept: readonly BuiltFolder[];
}

/** Records that a build of `cacheDir` is used now, by the time of its folder. Mutates: the disk. */
export async function markBuildUsed(modelDir: string, cacheDir: string, now: number): Promise<void> {
  if (dirname(resolve(modelDir)) !== resolve(cacheDir)) return;
  // A folder that this user may not change keeps its time.
  await utimes(modelDir, now / 1000, now / 1000).catch(() => undefined);
}

/** Removes builds by the rule; those in use, or used within the last hour, stay. Mutates: the disk, inside `cacheDir`. */
export async function pruneBuilds(options: PruneOptions): Promise<PruneResult> {
  const { cacheDir, inUse = [], isDryRun = false } = options;
  const builds = await listBuilds(cacheDir);
  const used = new Set(inUse.map(path => resolve(path)));
  const removed = choosePrunable(builds, { ...options, isKept: build => used.has(build.path) });
  if (!isDryRun) for (const { path } of removed) await removeBuild(path, cacheDir);
  return { removed, kept: builds.filter(build => !removed.includes(build)) };
}

/** The builds that a rule removes, the least recently used first. */
function choosePrunable(
  builds: readonly BuiltFolder[],
  {
    maxAgeMs = Number.POSITIVE_INFINITY,
    maxBytes = Number.POSITIVE_INFINITY,
    neededBytes = 0,
    now,
    isKept,
  }: PruneRule & { readonly now: number; readonly isKept: (build: BuiltFolder) => boolean },
): readonly BuiltFolder[] {
  let restBytes = builds.reduce((sum, { bytes }) => sum + bytes, 0);
  let freedBytes = 0;
  const removed: BuiltFolder[] = [];
  for (const build of builds.toSorted((first, second) => first.usedAtMs - second.usedAtMs)) {
    const ageMs = now - build.usedAtMs;
    if (isKept(build) || ageMs < RECENT_USE_MS) continue;
    if (ageMs <= maxAgeMs && restBytes <= maxBytes && freedBytes >= neededBytes) continue;
    removed.push(build);
    restBytes -= build.bytes;
    freedBytes += build.bytes;
  }
  return removed;
}

/** The finished builds of a cache. */
async function listBuilds(cacheDir: string): Promise<readonly BuiltFolder[]> {
  const names = await readdir(cacheDir).catch(() => []);
  const builds = names.filter(name => BUILD_NAME.test(name)).map(name => readBuild(resolve(cacheDir, name)));
  return (await Promise.all(builds)).filter(build => build !== undefined);
}

async function readBuild(path: string): Promise<BuiltFolder | undefined> {
  try {
    const { mtimeMs } = await stat(path);
    const files = await readdir(path, { recursive: true });
    const sizes = await Promise.all(files.map(async name => (await stat(join(path, name))).size));
    return { path, bytes: sizes.reduce((sum, size) => sum + size, 0), usedAtMs: mtimeMs };
  } catch {
    // Another process removes it.
    return undefined;
  }
}

async function removeBuild(path: string, cacheDir: string): Promise<void> {
  await removeBuildFolder(path);
  const [, hash] = BUILD_NAME.exec(path.slice(dirname(path).length + 1))!;
  await rm(join(cacheDir, 'stamps', `build-${hash}.json`), { force: true });
}
