// The manifest of a built folder and its integrity check: it has the hash of every other file, so that a truncated, changed
// or missing file is detected before the engine reads it.

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GRAPH_FORMAT_VERSION, MANIFEST_FILE, type ModelManifest } from '@ortler/engine/graph-contract';
import { z } from 'zod';
import { ModelBuildError } from './errors.ts';
import { type HashOptions, hashFolders } from './file-hashes.ts';
import type { FileTypes } from './file-types.ts';
import type { LongRopeChoice } from './hugging-face/long-rope.ts';
import type { WeightFormatCounts } from './kernels/count-formats.ts';

/** The manifest as this builder writes it. The engine reads the fields of `ModelManifest`. */
export interface BuildManifest extends ModelManifest {
  /**
   * Only for builds in q4 or `file` for the CPU kernels, whose matrices have formats of their own: how many
   * of each role have which.
   */
  readonly weightFormats?: WeightFormatCounts;
  /** Only for builds in q4 for the CPU kernels: the result of `measureWeightError`. */
  readonly weightError?: number;
  /** Only for models with LongRoPE. */
  readonly longRope?: LongRopeChoice;
  /** Only for builds from a quantised file. */
  readonly fileTypes?: FileTypes;
  /** Hex SHA-256 of the other files of the folder, by name. */
  readonly files: Readonly<Record<string, string>>;
}

/** The fields that are read from the manifest of any builder version. */
const foundManifest = z.looseObject({
  formatVersion: z.unknown(),
  contentHash: z.string().optional(),
  kvType: z.unknown(),
  longRope: z
    .object({ factors: z.enum(['short', 'long']), originalContextLength: z.int().positive() })
    .optional(),
  // Names without a folder, so that a manifest cannot point outside its folder.
  files: z
    .record(
      z.string().refine(name => name === basename(name)),
      z.string(),
    )
    .optional(),
});

export type FoundManifest = z.infer<typeof foundManifest>;

/**
 * The manifest of a folder; undefined when it has none.
 *
 * Throws: `source_invalid` for one that cannot be read, `unsupported` for other versions of the format.
 */
export async function readBuildManifest(folder: string): Promise<FoundManifest | undefined> {
  const file = join(folder, MANIFEST_FILE);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  let manifest: FoundManifest;
  try {
    manifest = foundManifest.parse(JSON.parse(text));
  } catch (cause) {
    throw new ModelBuildError('source_invalid', `${file} is not the manifest of a build`, { file, cause });
  }
  const { formatVersion } = manifest;
  if (formatVersion === GRAPH_FORMAT_VERSION) return manifest;
  const message = `is ${JSON.stringify(formatVersion)}, and this version of Ortler reads ${GRAPH_FORMAT_VERSION}: build the checkpoint again`;
  const key = 'formatVersion';
  throw new ModelBuildError('unsupported', `${file}, key ${key}: ${message}`, { file, key });
}

/**
 * Path of the first file that is missing or differs from the manifest; undefined when all are intact. Files that have not
 * changed since the last check are not read again. A manifest without hashes passes.
 */
export async function findDamagedFile(
  folder: string,
  { files = {} }: Pick<FoundManifest, 'files'>,
  options: HashOptions & { readonly stampPath: string | undefined },
): Promise<string | undefined> {
  const names = Object.keys(files);
  let hashes: ReadonlyMap<string, string> | undefined;
  try {
    [hashes] = await hashFolders([{ folder, names, stampPath: options.stampPath }], options);
  } catch (error) {
    if (error instanceof ModelBuildError) return error.file;
    throw error;
  }
  const damaged = names.find(name => hashes?.get(name) !== files[name]);
  return damaged === undefined ? undefined : join(folder, damaged);
}
