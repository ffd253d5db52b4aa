// The identity of a build: SHA-256 over the checkpoint's files, the graph format and the precision.
// Hashing gigabytes at every start would be slow, so hashes of unchanged files are remembered in a stamp file.

import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { COMPANION_FILES, GRAPH_FORMAT_VERSION, type Precision } from '@ortler/engine/graph-contract';
import { z } from 'zod';
import { ModelBuildError } from './errors.ts';
import { listWeightFiles } from './hugging-face/checkpoint.ts';

/** Raised whenever the builder writes other bytes for the same checkpoint; part of the build's identity. */
export const BUILDER_VERSION = 1;

const HASH_CHUNK_BYTES = 1 << 20;

/** What tells that a file is the one that was hashed. Times and numbers are decimal text of nanoseconds. */
const fileStamp = z.object({
  size: z.string(),
  modified: z.string(),
  changed: z.string(),
  inode: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const stampFile = z.record(z.string(), fileStamp);

type FileStamp = z.infer<typeof fileStamp>;

export interface ContentHashOptions {
  readonly sourceDir: string;
  readonly precision: Precision;
  /** Where hashes are remembered between calls; nothing is remembered without it. */
  readonly stampPath?: string | undefined;
  readonly onBytes?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Files of the checkpoint that decide what a build contains, relative to the folder. Throws: `source_invalid`. */
export async function listCheckpointFiles(sourceDir: string): Promise<string[]> {
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
  return [...present, ...(await listWeightFiles(sourceDir))];
}

/** Hex SHA-256 that names a build. Throws: `source_invalid`, `weights_corrupt`, the reason of `signal`. */
export async function computeContentHash(options: ContentHashOptions): Promise<string> {
  const { sourceDir, precision, stampPath } = options;
  const names = await listCheckpointFiles(sourceDir);
  const known = stampPath === undefined ? {} : await readStamps(stampPath);
  const stamps: Record<string, FileStamp> = {};
  const pending: string[] = [];
  for (const name of names) {
    const current = await stampOf(join(sourceDir, name));
    const before = known[name];
    if (before !== undefined && isSameFile(before, current)) stamps[name] = before;
    else pending.push(name);
  }
  await hashFiles(pending, stamps, options);
  if (stampPath !== undefined && pending.length > 0) await writeStamps(stampPath, stamps);
  const hash = createHash('sha256');
  hash.update(`ortler ${GRAPH_FORMAT_VERSION} ${BUILDER_VERSION} slots ${precision}\n`);
  for (const name of names.toSorted()) hash.update(`${name} ${stamps[name]!.sha256}\n`);
  return hash.digest('hex');
}

/** Mutates: `stamps`, one entry per name. */
async function hashFiles(
  names: readonly string[],
  stamps: Record<string, FileStamp>,
  { sourceDir, onBytes, signal }: ContentHashOptions,
): Promise<void> {
  const paths = names.map(name => join(sourceDir, name));
  const sizes = await Promise.all(paths.map(async path => (await stat(path)).size));
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  let doneBytes = 0;
  for (const [i, path] of paths.entries()) {
    const before = await stampOf(path);
    const sha256 = await hashFile(path, signal, bytes => {
      doneBytes += bytes;
      onBytes?.(doneBytes, totalBytes);
    });
    const after = await stampOf(path);
    if (!isSameFile(before, after)) {
      throw new ModelBuildError('source_invalid', `${path} changed while it was read`, { file: path });
    }
    stamps[names[i]!] = { ...after, sha256 };
  }
}

/** Reads through one buffer: a stream would leave a new one behind for each piece. */
async function hashFile(
  path: string,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  const buffer = new Uint8Array(HASH_CHUNK_BYTES);
  const file = await open(path, 'r');
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
      onBytes(bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function stampOf(path: string): Promise<Omit<FileStamp, 'sha256'>> {
  const stats = await stat(path, { bigint: true }).catch((cause: unknown) => {
    throw new ModelBuildError('source_invalid', `${path} is missing or cannot be read`, {
      file: path,
      cause,
    });
  });
  return {
    size: String(stats.size),
    modified: String(stats.mtimeNs),
    changed: String(stats.ctimeNs),
    inode: String(stats.ino),
  };
}

function isSameFile(a: Omit<FileStamp, 'sha256'>, b: Omit<FileStamp, 'sha256'>): boolean {
  return a.size === b.size && a.modified === b.modified && a.changed === b.changed && a.inode === b.inode;
}

/** A stamp file only saves time: one that is missing or unreadable means that everything is hashed again. */
async function readStamps(path: string): Promise<Readonly<Record<string, FileStamp>>> {
  try {
    return stampFile.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}

/**
 * Another process may write the same file at the same moment, so it is replaced as a whole. A failure costs time
 * at the next start and nothing else: the cache may be read-only, and a full disk shows when the build is written.
 */
async function writeStamps(path: string, stamps: Readonly<Record<string, FileStamp>>): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(temporary, JSON.stringify(stamps));
    await rename(temporary, path);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}
