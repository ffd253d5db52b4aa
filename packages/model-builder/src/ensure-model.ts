// The build cache: returns the model folder of a checkpoint, which is built at most once per content.

import { join } from 'node:path';
import {
  type GraphVariant,
  type KvType,
  type Precision,
  VARIANT_KV_TYPES,
} from '@ortler/engine/graph-contract';
import { keepIntactFolder, removeAbandonedBuilds } from './build-folder.ts';
import { buildHashedModel } from './build-hashed-model.ts';
import { findDamagedFile, readBuildManifest } from './build-manifest.ts';
import type { BuildProgress } from './build-options.ts';
import { computeContentHash, settleKvType, stampPathFor } from './content-hash.ts';
import { ModelBuildError } from './errors.ts';
import { ensureExport } from './exported/ensure-export.ts';
import { findExports } from './exported/find-exports.ts';
import { type HashOptions, StampMissingError } from './file-hashes.ts';

export interface EnsureModelOptions {
  /**
   * A checkpoint folder, a GGUF file (or a folder with one model in GGUF), a built folder, or an ONNX export in the layout of Optimum
   * or onnxruntime-genai.
   */
  readonly sourceDir: string;
  /** Folder of a PEFT LoRA adapter that is merged into the checkpoint. */
  readonly adapterDir?: string | undefined;
  /** Folder of the cache; created when absent. Several processes may share it. */
  readonly cacheDir: string;
  /** Precision of the build, or of the exported graph to use. A built folder keeps its own. */
  readonly precision: Precision;
  /** `kernels` or `slots` for the CPU, `paged` or `device-slots` for a GPU. Default: `kernels`. */
  readonly variant?: GraphVariant | undefined;
  /**
   * Type of the KV cache. Default: `defaultKvType` for a new build, its own for a built folder.
   */
  readonly kvType?: KvType | undefined;
  /** See `BuildModelOptions`. Without an effect on a built folder and an export. */
  readonly contextLength?: number | undefined;
  /** See `BuildModelOptions`. Without an effect on what is built already, and on an export. */
  readonly modelDefaults?: boolean | undefined;
  readonly onProgress?: ((progress: BuildProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Path of the model folder of `sourceDir`: `sourceDir` itself when it is a built folder, else a folder of the cache, which is
 * built unless it exists. Unchanged checkpoints and builds are recognised by the sizes and times of their files, without
 * reading them again.
 *
 * Mutates: the disk, inside `cacheDir`. Throws: `ModelBuildError`, or the reason of `signal`.
 */
export async function ensureModel(options: EnsureModelOptions): Promise<string> {
  const { sourceDir, cacheDir, precision, variant = 'kernels', signal } = options;
  const hashing: HashOptions = { onBytes: hashProgress(options), signal };
  if (await isBuilt(options, hashing)) return sourceDir;
  await removeAbandonedBuilds(cacheDir, Date.now());
  const exports = await findExports(sourceDir, variant);
  if (exports !== undefined) {
    refuseAdapter(options, 'was exported by another program');
    refuseOtherCache(options, VARIANT_KV_TYPES.slots[0], 'was exported by another program');
    return ensureExport({ exports, cacheDir, precision, variant, ...hashing });
  }
  const { isIntact, ...build } = await identifyBuild(options, hashing);
  if (await keepIntactFolder(build.outputDir, isIntact)) return build.outputDir;
  const result = await buildHashedModel({ ...options, ...build });
  if (result.kind === 'taken' && !(await isIntact())) {
    const message = `${build.outputDir} was made by another process while it was built here, and is not usable`;
    throw new ModelBuildError('write_failed', message, { file: build.outputDir });
  }
  return build.outputDir;
}

/**
 * Path that `ensureModel` would return, where the stamps of the files tell it; undefined where a file must be hashed or a
 * model be built, and for an export. Throws: as `ensureModel`.
 */
export async function findKnownModel(options: EnsureModelOptions): Promise<string | undefined> {
  const { sourceDir, variant = 'kernels', signal } = options;
  const hashing: HashOptions = { stampsOnly: true, signal };
  try {
    if (await isBuilt(options, hashing)) return sourceDir;
    if ((await findExports(sourceDir, variant)) !== undefined) return undefined;
    const { outputDir, isIntact } = await identifyBuild(options, hashing);
    return (await isIntact()) ? outputDir : undefined;
  } catch (error) {
    if (error instanceof StampMissingError) return undefined;
    throw error;
  }
}

/** Where the build of a checkpoint is or would be. Throws: `ModelBuildError`, or as the hashing. */
async function identifyBuild(options: EnsureModelOptions, hashing: HashOptions) {
  const { sourceDir, adapterDir, cacheDir, precision, variant = 'kernels', kvType, contextLength } = options;
  const stampDir = join(cacheDir, 'stamps');
  const contentHash = await computeContentHash({
    sourceDir,
    adapterDir,
    precision,
    variant,
    kvType,
    contextLength,
    stampDir,
    ...hashing,
  });
  const kind = [
    ...(variant === 'kernels' ? [] : [variant]),
    precision,
    ...(settleKvType(variant, precision, kvType) === 'int8' ? ['kv8'] : []),
  ].join('-');
  const outputDir = join(cacheDir, `${kind}-${contentHash.slice(0, 32)}`);
  const stampPath = join(stampDir, `build-${contentHash.slice(0, 32)}.json`);
  const isIntact = async () => {
    const manifest = await readBuildManifest(outputDir).catch(() => undefined);
    if (manifest?.contentHash !== contentHash) return false;
    return (await findDamagedFile(outputDir, manifest, { stampPath, ...hashing })) === undefined;
  };
  return { outputDir, contentHash, stampPath, isIntact };
}

/**
 * Whether the source is a built folder.
 *
 * Throws: `unsupported` for other versions and with an adapter, `weights_corrupt` for a damaged one.
 */
async function isBuilt(options: EnsureModelOptions, hashing: HashOptions): Promise<boolean> {
  const { sourceDir, cacheDir } = options;
  const manifest = await readBuildManifest(sourceDir);
  if (manifest === undefined) return false;
  refuseAdapter(options, 'is built already');
  refuseOtherCache(options, manifest.kvType, 'is built already');
  const stampPath = await stampPathFor(sourceDir, join(cacheDir, 'stamps'));
  const damaged = await findDamagedFile(sourceDir, manifest, { stampPath, ...hashing });
  if (damaged === undefined) return true;
  const message = `${damaged} is missing or not what was built; build the checkpoint again`;
  throw new ModelBuildError('weights_corrupt', message, { file: damaged });
}

/** Throws: `unsupported` when an adapter is given. */
function refuseAdapter({ sourceDir, adapterDir }: EnsureModelOptions, reason: string): void {
  if (adapterDir === undefined) return;
  const message = `${sourceDir} ${reason}; an adapter is merged into the checkpoint that it was made from`;
  throw new ModelBuildError('unsupported', message, { file: sourceDir });
}

/** Throws: `unsupported` when another KV cache type is requested than `has`. */
function refuseOtherCache({ sourceDir, kvType }: EnsureModelOptions, has: unknown, reason: string): void {
  if (kvType === undefined || kvType === has) return;
  const message = `${sourceDir} ${reason}, with a cache in ${String(has)}; one in ${kvType} needs a build from the checkpoint`;
  throw new ModelBuildError('unsupported', message, { file: sourceDir });
}

function hashProgress({ onProgress }: EnsureModelOptions) {
  return (doneBytes: number, totalBytes: number) => onProgress?.({ stage: 'hash', doneBytes, totalBytes });
}
