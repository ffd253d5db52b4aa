// From the list of a repository's files to a complete snapshot.

import { readFile } from 'node:fs/promises';
import { withFileLock } from './cache/file-lock.ts';
import type { RepositoryFolder } from './cache/layout.ts';
import { hasBlob, hasLink, linkFile, writeRef } from './cache/snapshot.ts';
import { checkTextSize } from './check-text-size.ts';
import { type ChosenFiles, chooseFiles, type Listing } from './choose-files.ts';
import { planDownload } from './download/check-space.ts';
import { downloadBlobs } from './download/download-blobs.ts';
import { countWholeBytes } from './download/partial-files.ts';
import type { Fetch, FetchedModel } from './fetch-options.ts';
import type { RepositoryFile, RepositoryInfo } from './protocol/repository-info.ts';

/**
 * The files of a listing, of which the missing ones are downloaded while the repository is locked.
 * Mutates: the disk. Throws: `HubError`, file system errors, the reason of the signal.
 */
export async function fetchListed(fetch: Fetch, info: RepositoryInfo): Promise<FetchedModel> {
  const { reference, folder, options } = fetch;
  const present = await findPresent(fetch, info);
  if (present !== undefined) {
    // The cache may be read-only, and has everything.
    await writeRef(folder, reference.revision, info.commit).catch(() => undefined);
    return toModel(folder, info.commit, present);
  }
  const { signal, onNotice } = options;
  const lock = {
    tuning: fetch.tuning,
    signal,
    onWait: () => onNotice?.(`Another process downloads ${reference.repository}; waiting for it.`),
  };
  return withFileLock(folder.lock, lock, async () => {
    const chosen = (await findPresent(fetch, info)) ?? (await download(fetch, info));
    await writeRef(folder, reference.revision, info.commit);
    return toModel(folder, info.commit, chosen);
  });
}

/** The files of the reference, if the snapshot has all of them. */
async function findPresent(fetch: Fetch, info: RepositoryInfo): Promise<ChosenFiles | undefined> {
  const { folder } = fetch;
  // The index is read before it is known to be there; without it something is missing.
  const missing = new Error('missing');
  const readText = (path: string) =>
    readFile(folder.link(info.commit, path), 'utf8').catch(() => Promise.reject(missing));
  try {
    const chosen = await chooseFiles(listingOf(fetch, info, readText));
    for (const file of filesOf(info, [...chosen.companions, ...chosen.weights]))
      if (!(await hasLink(folder, info.commit, file))) return undefined;
    return chosen;
  } catch (error) {
    if (error === missing) return undefined;
    throw error;
  }
}

/** Downloads all blobs, then shows them in the snapshot: small files first, so that a snapshot with weights is complete. */
async function download(fetch: Fetch, info: RepositoryInfo): Promise<ChosenFiles> {
  const { reference, folder, settings, tuning, options } = fetch;
  const readText = async (path: string) => {
    const [file] = filesOf(info, [path]);
    checkTextSize(reference.repository, file!);
    await downloadMissing(fetch, info, [file!]);
    return readFile(folder.blob(file!.hash), 'utf8');
  };
  const chosen = await chooseFiles(listingOf(fetch, info, readText));
  const files = filesOf(info, [...chosen.companions, ...chosen.weights]);
  const missing = await filter(files, async file => !(await isHere(fetch, info, file)));
  const totalBytes = sumSizes(files);
  let missingBytes = sumSizes(missing);
  for (const file of missing)
    missingBytes -= await countWholeBytes(file, folder.blob(file.hash), tuning.chunkBytes);
  const plan = await planDownload(settings.cacheDir, { totalBytes, missingBytes });
  if (missing.length > 0) options.onPlan?.(plan);
  await downloadMissing(fetch, info, missing);
  for (const file of files)
    if (!(await hasLink(folder, info.commit, file))) await linkFile(folder, info.commit, file, settings);
  return chosen;
}

async function downloadMissing(
  { reference, folder, client, tuning, options }: Fetch,
  { commit }: RepositoryInfo,
  files: readonly RepositoryFile[],
): Promise<void> {
  const missing = await filter(uniqueBlobs(files), async file => !(await hasBlob(folder, file)));
  if (missing.length === 0) return;
  await downloadBlobs({
    client,
    repository: reference.repository,
    commit,
    folder,
    files: missing,
    tuning,
    signal: options.signal,
    onWait: options.onNotice,
    onProgress: options.onProgress,
  });
}

/** A snapshot without links has the file itself, and no blob. */
async function isHere({ folder }: Fetch, { commit }: RepositoryInfo, file: RepositoryFile): Promise<boolean> {
  return (await hasBlob(folder, file)) || (await hasLink(folder, commit, file));
}

function listingOf(
  { reference, options }: Fetch,
  { files }: RepositoryInfo,
  readText: Listing['readText'],
): Listing {
  const { repository, quant } = reference;
  const chooseGraph = options.chooseGraph && (() => options.chooseGraph!({ files, readText }));
  return { repository, quant, paths: files.map(({ path }) => path), readText, chooseGraph };
}

function filesOf({ files }: RepositoryInfo, paths: readonly string[]): readonly RepositoryFile[] {
  const byPath = new Map(files.map(file => [file.path, file]));
  return paths.map(path => byPath.get(path)!);
}

/** Two paths may have the same content. */
function uniqueBlobs(files: readonly RepositoryFile[]): readonly RepositoryFile[] {
  return [...new Map(files.map(file => [file.hash, file])).values()];
}

function toModel(folder: RepositoryFolder, commit: string, { kind, entry }: ChosenFiles): FetchedModel {
  return { kind, commit, path: entry === undefined ? folder.snapshot(commit) : folder.link(commit, entry) };
}

async function filter<T>(items: readonly T[], isKept: (item: T) => Promise<boolean>): Promise<readonly T[]> {
  const kept = await Promise.all(items.map(isKept));
  return items.filter((_, i) => kept[i]);
}

function sumSizes(files: readonly RepositoryFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
