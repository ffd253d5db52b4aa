// The cache of builds: a checkpoint folder in, a model folder out, built at most once per content.

import { createHash } from 'node:crypto';
import { readFile, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  GRAPH_FORMAT_VERSION,
  MANIFEST_FILE,
  type ModelManifest,
  type Precision,
} from '@ortler/engine/graph-contract';
import { removeAbandonedBuilds } from './build-folder.ts';
import { type BuildProgress, buildHashedModel, listCompanions, WEIGHTS_FILE } from './build-model.ts';
import { computeContentHash } from './content-hash.ts';
import { ModelBuildError } from './errors.ts';

export interface EnsureModelOptions {
  /** A checkpoint folder, or a folder that was built before. */
  readonly sourceDir: string;
  /** Where builds are kept; made when absent. Several processes may share it. */
  readonly cacheDir: string;
  /** Of a build made from a checkpoint; a folder that was built before keeps the one it has. */
  readonly precision: Precision;
  readonly onProgress?: ((progress: BuildProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Path of a model folder with the content of `sourceDir`: `sourceDir` itself when it is built already, a folder
 * of the cache otherwise, which is built now unless it is there. Unchanged checkpoints are recognised by the
 * size and times of their files, without reading them again.
 *
 * Mutates: the disk, inside `cacheDir`. Throws: `ModelBuildError`, or the reason of `signal`.
 */
export async function ensureModel(options: EnsureModelOptions): Promise<string> {
  const { sourceDir, cacheDir, precision, onProgress, signal } = options;
  if (await isBuilt(sourceDir)) return sourceDir;
  await removeAbandonedBuilds(cacheDir, Date.now());
  const contentHash = await computeContentHash({
    sourceDir,
    precision,
    stampPath: await stampPathFor(sourceDir, cacheDir),
    onBytes: (doneBytes, totalBytes) => onProgress?.({ stage: 'hash', doneBytes, totalBytes }),
    signal,
  });
  const outputDir = join(cacheDir, `${precision}-${contentHash.slice(0, 32)}`);
  // Folders get their name when they are whole, so one that is not intact was damaged later. Whether it exists
  // is asked first: a folder that another process finishes between the two questions must not be removed.
  if (await exists(outputDir)) {
    if (await isIntact(outputDir, contentHash, sourceDir)) return outputDir;
    await rm(outputDir, { recursive: true, force: true });
  }
  const result = await buildHashedModel({ sourceDir, outputDir, precision, onProgress, signal, contentHash });
  if (result.kind === 'taken' && !(await isIntact(outputDir, contentHash, sourceDir))) {
    const message = `${outputDir} was made by another process while it was built here, and is not usable`;
    throw new ModelBuildError('write_failed', message, { file: outputDir });
  }
  return outputDir;
}

/** Whether the folder is an output of the builder that this version reads. Throws: `unsupported` for other versions. */
async function isBuilt(folder: string): Promise<boolean> {
  const manifest = await readManifest(folder);
  if (manifest === undefined) return false;
  const version = manifest.formatVersion;
  if (version === GRAPH_FORMAT_VERSION) return true;
  const file = join(folder, MANIFEST_FILE);
  throw new ModelBuildError(
    'unsupported',
    `${file}, key formatVersion: is ${JSON.stringify(version)}; allowed is ${GRAPH_FORMAT_VERSION}: build the checkpoint again`,
    { file, key: 'formatVersion' },
  );
}

/** Whether all files of the build are there: cleaners of cache folders may take away single ones. */
async function isIntact(folder: string, contentHash: string, sourceDir: string): Promise<boolean> {
  const manifest = await readManifest(folder).catch(() => undefined);
  if (manifest?.contentHash !== contentHash || typeof manifest.graphFile !== 'string') return false;
  const names = [manifest.graphFile, WEIGHTS_FILE, ...(await listCompanions(sourceDir))];
  const present = await Promise.all(names.map(name => exists(join(folder, name))));
  return present.every(Boolean);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Undefined when the folder has no manifest. Throws: `source_invalid` when it has one that is not JSON. */
async function readManifest(folder: string): Promise<Partial<ModelManifest> | undefined> {
  const file = join(folder, MANIFEST_FILE);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const manifest: unknown = JSON.parse(text);
    if (typeof manifest === 'object' && manifest !== null) return manifest;
    throw new Error('not an object');
  } catch (cause) {
    throw new ModelBuildError('source_invalid', `${file} is not a JSON object`, { file, cause });
  }
}

/** One stamp file per checkpoint folder, inside the cache: the checkpoint itself may be read-only. */
async function stampPathFor(sourceDir: string, cacheDir: string): Promise<string> {
  const path = await realpath(sourceDir).catch((cause: unknown) => {
    throw new ModelBuildError('source_invalid', `${sourceDir} does not exist or cannot be read`, {
      file: sourceDir,
      cause,
    });
  });
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  return join(cacheDir, 'stamps', `${name}.json`);
}
