// The cache of builds: a checkpoint folder in, a model folder out, built at most once per content.

import { join } from 'node:path';
import {
  type GraphVariant,
  type KvType,
  type Precision,
  VARIANT_KV_TYPES,
} from '@ortler/engine/graph-contract';
import { keepIntactFolder, removeAbandonedBuilds } from './build-folder.ts';
import { findDamagedFile, readBuildManifest } from './build-manifest.ts';
import { type BuildProgress, buildHashedModel } from './build-model.ts';
import { computeContentHash, settleKvType, stampPathFor } from './content-hash.ts';
import { ModelBuildError } from './errors.ts';
import { ensureExport } from './exported/ensure-export.ts';
import { findExports } from './exported/find-exports.ts';

export interface EnsureModelOptions {
  /** A checkpoint folder, a folder that was built before, or one that another program exported (Optimum's layout). */
  readonly sourceDir: string;
  /** Folder of a PEFT LoRA adapter that is merged into the checkpoint. */
  readonly adapterDir?: string | undefined;
  /** Where builds are kept; made when absent. Several processes may share it. */
  readonly cacheDir: string;
  /** Of a build made from a checkpoint, or of the graph to take; a folder that was built before keeps the one it has. */
  readonly precision: Precision;
  /** Where the model is to run: `slots` for the processor, `paged` for a GPU. Default: `slots`. */
  readonly variant?: GraphVariant | undefined;
  /**
   * Type of the cache. Default: for a build made from a checkpoint the first of the variant's, for a folder that was built
   * before whatever it has.
   */
  readonly kvType?: KvType | undefined;
  readonly onProgress?: ((progress: BuildProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Path of a model folder with the content of `sourceDir`: `sourceDir` itself when it is built already, a folder
 * of the cache otherwise, which is built now unless it is there. Unchanged checkpoints are recognised by the
 * size and times of their files, without reading them again; so are unchanged builds.
 *
 * Mutates: the disk, inside `cacheDir`. Throws: `ModelBuildError`, or the reason of `signal`.
 */
export async function ensureModel(options: EnsureModelOptions): Promise<string> {
  const { sourceDir, adapterDir, cacheDir, precision, variant = 'slots', kvType, signal } = options;
  if (await isBuilt(options)) return sourceDir;
  await removeAbandonedBuilds(cacheDir, Date.now());
  const onBytes = hashProgress(options);
  const exports = await findExports(sourceDir, variant);
  if (exports !== undefined) {
    refuseAdapter(options, 'was exported by another program');
    refuseOtherCache(options, VARIANT_KV_TYPES.slots[0], 'was exported by another program');
    return ensureExport({ sourceDir, exports, cacheDir, precision, variant, onBytes, signal });
  }
  const stampDir = join(cacheDir, 'stamps');
  const contentHash = await computeContentHash({
    sourceDir,
    adapterDir,
    ...{ precision, variant, kvType },
    stampDir,
    onBytes,
    signal,
  });
  const kind = [
    ...(variant === 'slots' ? [] : [variant]),
    precision,
    ...(settleKvType(variant, kvType) === 'int8' ? ['kv8'] : []),
  ].join('-');
  const outputDir = join(cacheDir, `${kind}-${contentHash.slice(0, 32)}`);
  const stampPath = join(stampDir, `build-${contentHash.slice(0, 32)}.json`);
  const isIntact = async () => {
    const manifest = await readBuildManifest(outputDir).catch(() => undefined);
    if (manifest?.contentHash !== contentHash) return false;
    return (await findDamagedFile(outputDir, manifest, { stampPath, onBytes, signal })) === undefined;
  };
  if (await keepIntactFolder(outputDir, isIntact)) return outputDir;
  const result = await buildHashedModel({ ...options, outputDir, contentHash, stampPath });
  if (result.kind === 'taken' && !(await isIntact())) {
    const message = `${outputDir} was made by another process while it was built here, and is not usable`;
    throw new ModelBuildError('write_failed', message, { file: outputDir });
  }
  return outputDir;
}

/**
 * Whether the source is an output of the builder already.
 *
 * Throws: `unsupported` for other versions and with an adapter, `weights_corrupt` for one that was damaged.
 */
async function isBuilt(options: EnsureModelOptions): Promise<boolean> {
  const { sourceDir, cacheDir, signal } = options;
  const manifest = await readBuildManifest(sourceDir);
  if (manifest === undefined) return false;
  refuseAdapter(options, 'is built already');
  refuseOtherCache(options, manifest.kvType, 'is built already');
  const stampPath = await stampPathFor(sourceDir, join(cacheDir, 'stamps'));
  const damaged = await findDamagedFile(sourceDir, manifest, {
    stampPath,
    onBytes: hashProgress(options),
    signal,
  });
  if (damaged === undefined) return true;
  const message = `${damaged} is missing or not what was built; build the checkpoint again`;
  throw new ModelBuildError('weights_corrupt', message, { file: damaged });
}

/** Throws: `unsupported` when there is one. */
function refuseAdapter({ sourceDir, adapterDir }: EnsureModelOptions, reason: string): void {
  if (adapterDir === undefined) return;
  const message = `${sourceDir} ${reason}; an adapter is merged into the checkpoint that it was made from`;
  throw new ModelBuildError('unsupported', message, { file: sourceDir });
}

/** Throws: `unsupported` when another type of cache is asked for than `has`. */
function refuseOtherCache({ sourceDir, kvType }: EnsureModelOptions, has: unknown, reason: string): void {
  if (kvType === undefined || kvType === has) return;
  const message = `${sourceDir} ${reason}, with a cache in ${String(has)}; one in ${kvType} needs a build from the checkpoint`;
  throw new ModelBuildError('unsupported', message, { file: sourceDir });
}

function hashProgress({ onProgress }: EnsureModelOptions) {
  return (doneBytes: number, totalBytes: number) => onProgress?.({ stage: 'hash', doneBytes, totalBytes });
}
