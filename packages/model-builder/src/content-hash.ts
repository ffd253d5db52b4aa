// The identity of a build: SHA-256 over the files of checkpoint and adapter, the graph format, variant and precision.

import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  COMPANION_FILES,
  defaultKvType,
  GRAPH_FORMAT_VERSION,
  type GraphVariant,
  type KvType,
  type Precision,
  VARIANT_KV_TYPES,
  VARIANT_PRECISIONS,
} from '@ortler/engine/graph-contract';
import { ModelBuildError } from './errors.ts';
import { type FolderFiles, type HashOptions, hashFolders } from './file-hashes.ts';
import { listWeightFiles } from './hugging-face/checkpoint.ts';
import { ADAPTER_WEIGHTS_FILE } from './lora/adapter.ts';
import { ADAPTER_CONFIG_FILE } from './lora/adapter-config.ts';

/**
 * Raised whenever the builder writes different bytes for the same checkpoint, or refuses a checkpoint that it built wrongly
 * before; part of the build's identity.
 */
export const BUILDER_VERSION = 10;

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
  /** Folder that caches hashes between calls. Default: no cache. */
  readonly stampDir?: string | undefined;
}

/** Files of the checkpoint that affect the build, relative to the folder. Throws: `source_invalid`. */
export async function listCheckpointFiles(sourceDir: string): Promise<string[]> {
  return [...(await listCompanionFiles(sourceDir)), ...(await listWeightFiles(sourceDir))];
}

/** Files of the checkpoint that are copied to the model folder. Throws: `source_invalid`. */
export async function listCompanionFiles(sourceDir: string): Promise<string[]> {
  const present: string[] = [];
  for (const name of COMPANION_FILES) {
    const stats = await stat(join(sourceDir, name)).catch(() => undefined);
    if (stats?.isFile()) present.push(name);
  }
  for (const required of ['config.json', 'tokenizer.json']) {
    if (!present.includes(required)) {
      const file = join(sourceDir, required);
      throw new ModelBuildError('source_invalid', `${file} is missing`, { file });
    }
  }
  return present;
}

/**
 * Hex SHA-256 that names a build.
 * Throws: `unsupported` for a precision or KV cache type that the variant does not have, `source_invalid`, `weights_corrupt`,
 * the reason of `signal`.
 */
export async function computeContentHash(options: ContentHashOptions): Promise<string> {
  const { sourceDir, adapterDir, precision, variant, roundsActivations, stampDir, onBytes, signal } = options;
  checkPrecision(variant, precision);
  const kvType = settleKvType(variant, precision, options.kvType);
  const stampPath = await stampPathFor(sourceDir, stampDir);
  const names = await listCheckpointFiles(sourceDir);
  const folders: FolderFiles[] = [{ folder: sourceDir, names, stampPath }];
  if (adapterDir !== undefined) {
    folders.push({
      folder: adapterDir,
      names: [ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS_FILE],
      stampPath: await stampPathFor(adapterDir, stampDir),
    });
  }
  const hash = createHash('sha256');
  // Builds with the default cache type keep the hash they had before there were other types.
  const cache = kvType === defaultKvType(variant, precision) ? '' : ` ${kvType}`;
  const kind = `${variant} ${precision}${cache}${roundsActivations ? ' rounded' : ''}`;
  hash.update(`ortler ${GRAPH_FORMAT_VERSION} ${BUILDER_VERSION} ${kind}\n`);
  for (const hashes of await hashFolders(folders, { onBytes, signal }))
    for (const [name, sha256] of [...hashes].toSorted()) hash.update(`${name} ${sha256}\n`);
  return hash.digest('hex');
}

function checkPrecision(variant: GraphVariant, precision: Precision): void {
  const allowed: readonly Precision[] = VARIANT_PRECISIONS[variant];
  if (allowed.includes(precision)) return;
  const message = `a "${variant}" graph has no precision ${precision}; it has ${allowed.join(', ')}`;
  throw new ModelBuildError('unsupported', message);
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
  const message = `a "${variant}" graph has no ${kvType} cache; it has ${allowed.join(', ')}`;
  throw new ModelBuildError('unsupported', message);
}

/** Path of the stamp file of a folder, outside it, because the checkpoint may be read-only. Throws: `source_invalid`. */
export async function stampPathFor(
  folder: string,
  stampDir: string | undefined,
): Promise<string | undefined> {
  const path = await realpath(folder).catch((cause: unknown) => {
    const message = `${folder} does not exist or cannot be read`;
    throw new ModelBuildError('source_invalid', message, { file: folder, cause });
  });
  if (stampDir === undefined) return undefined;
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  return join(stampDir, `${name}.json`);
}
