// The identity of a build: SHA-256 over the files of checkpoint and adapter, the graph format, variant and precision.

import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import {
  defaultKvType,
  GRAPH_FORMAT_VERSION,
  type GraphVariant,
  type KvType,
  type Precision,
  VARIANT_KV_TYPES,
  VARIANT_PRECISIONS,
} from '@ortler/engine/graph-contract';
import { type CheckpointSource, findCheckpoint } from './checkpoint-source.ts';
import { ModelBuildError } from './errors.ts';
import { type FolderFiles, type HashOptions, hashFolders } from './file-hashes.ts';
import { forContext, longRopeChoice } from './hugging-face/long-rope.ts';
import { ADAPTER_WEIGHTS_FILE } from './lora/adapter.ts';
import { ADAPTER_CONFIG_FILE } from './lora/adapter-config.ts';
import { checkAdapter } from './lora/check-adapter.ts';
import { readFault } from './read-fault.ts';

/**
 * Raised whenever the builder writes different bytes for the same checkpoint, or refuses a checkpoint that it built wrongly
 * before; part of the build's identity.
 */
export const BUILDER_VERSION = 19;

export interface ContentHashOptions extends HashOptions {
  readonly sourceDir: string;
  /** Folder of an adapter that is merged into the checkpoint. */
  readonly adapterDir?: string | undefined;
  readonly precision: Precision;
  readonly variant: GraphVariant;
  /** See `BuildModelOptions`. Default: false. */
  readonly roundsActivations?: boolean | undefined;
  /** Type of the KV cache. Default: `defaultKvType`. */
  readonly kvType?: KvType | undefined;
  /** See `BuildModelOptions`. */
  readonly contextLength?: number | undefined;
  /** Folder that caches hashes between calls. Default: no cache. */
  readonly stampDir?: string | undefined;
}

/**
 * Hex SHA-256 that names a build.
 * Throws: `unsupported` for a precision or KV cache type that the variant does not have, `source_invalid`, `weights_corrupt`,
 * the reason of `signal`, `StampMissingError`.
 */
export async function computeContentHash(options: ContentHashOptions): Promise<string> {
  const { sourceDir, adapterDir, precision, variant, roundsActivations, stampDir } = options;
  checkPrecision(variant, precision);
  const kvType = settleKvType(variant, precision, options.kvType);
  const source = await findCheckpoint(sourceDir);
  const { path, folder, listFiles } = source;
  const stampPath = await stampPathFor(path, stampDir);
  const folders: FolderFiles[] = [{ folder, names: await listFiles(), stampPath }];
  if (adapterDir !== undefined) {
    // Where hashes are known it was checked before they were; its header may take long to read.
    if (options.stampsOnly !== true) await checkAdapter(adapterDir);
    folders.push({
      folder: adapterDir,
      names: [ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS_FILE],
      stampPath: await stampPathFor(adapterDir, stampDir),
    });
  }
  const hash = createHash('sha256');
  // Builds with the default cache type keep the hash they had before there were other types.
  const cache = kvType === defaultKvType(variant, precision) ? '' : ` ${kvType}`;
  const rope = (await hasOtherFactors(source, options.contextLength)) ? ' short-factors' : '';
  const kind = `${variant} ${precision}${cache}${roundsActivations ? ' rounded' : ''}${rope}`;
  hash.update(`ortler ${GRAPH_FORMAT_VERSION} ${BUILDER_VERSION} ${kind}\n`);
  for (const hashes of await hashFolders(folders, options))
    for (const [name, sha256] of [...hashes].toSorted()) hash.update(`${name} ${sha256}\n`);
  return hash.digest('hex');
}

/** Whether a build for the context has other factors of LongRoPE than one for the longest. Throws: `ModelBuildError`. */
async function hasOtherFactors(
  source: CheckpointSource,
  contextLength: number | undefined,
): Promise<boolean> {
  if (contextLength === undefined) return false;
  const config = await source.readConfig();
  return longRopeChoice(forContext(config, contextLength))?.factors !== longRopeChoice(config)?.factors;
}

function checkPrecision(variant: GraphVariant, precision: Precision): void {
  const fault = explainPrecisionFault(variant, precision);
  if (fault !== undefined) throw new ModelBuildError('unsupported', fault);
}

/** Why a build of the variant cannot have the precision; undefined where it can. */
export function explainPrecisionFault(variant: GraphVariant, precision: Precision): string | undefined {
  const allowed: readonly Precision[] = VARIANT_PRECISIONS[variant];
  if (allowed.includes(precision)) return undefined;
  return `a "${variant}" graph has no precision ${precision}; it has ${allowed.join(', ')}`;
}

/** The KV cache type of a build. Throws: `unsupported` for one that the variant does not have. */
export function settleKvType(
  variant: GraphVariant,
  precision: Precision,
  kvType: KvType | undefined,
): KvType {
  const allowed: readonly KvType[] = VARIANT_KV_TYPES[variant];
  if (kvType === undefined) return defaultKvType(variant, precision);
  if (allowed.includes(kvType)) return kvType;
  const reason = variant === 'paged' ? ': PagedAttention of ONNX Runtime 1.30 has no other on WebGPU' : '';
  const message = `a "${variant}" graph has no ${kvType} cache; it has ${allowed.join(', ')}${reason}`;
  throw new ModelBuildError('unsupported', message);
}

/**
 * Path of the stamp file of a folder or a file, apart from it, because it may be read-only.
 * Throws: `source_invalid`, `source_unreadable`.
 */
export async function stampPathFor(
  source: string,
  stampDir: string | undefined,
): Promise<string | undefined> {
  const path = await realpath(source).catch((cause: unknown) => {
    throw readFault(source, cause);
  });
  if (stampDir === undefined) return undefined;
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  return join(stampDir, `${name}.json`);
}
