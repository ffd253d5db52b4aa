// Repositories of the local Hub: content in memory, with the hashes and the listing that the real Hub gives.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export interface HubFile {
  readonly path: string;
  readonly content: Buffer;
  /** Git's name of the content, or of its LFS pointer. */
  readonly blobId: string;
  /** SHA-256 of a file in large file storage. */
  readonly sha256: string | undefined;
}

/** Like the default .gitattributes of the Hub: weights are in large file storage, whatever their size. */
const LARGE = /\.(safetensors|gguf|bin|onnx|pt)$/;

export function createHubFile(path: string, content: Buffer): HubFile {
  if (!LARGE.test(path)) return { path, content, blobId: gitHash(content), sha256: undefined };
  const sha256 = createHash('sha256').update(content).digest('hex');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${content.length}\n`;
  return { path, content, blobId: gitHash(Buffer.from(pointer)), sha256 };
}

/** A commit hash that depends on all content. */
export function commitOf(files: readonly HubFile[]): string {
  const hash = createHash('sha1');
  for (const { path, blobId } of files) hash.update(`${path}\0${blobId}\n`);
  return hash.digest('hex');
}

/** Name by which a file is stored in a cache. */
export function etagOf({ sha256, blobId }: HubFile): string {
  return sha256 ?? blobId;
}

/** All files of a folder, for a repository. */
export async function readFolder(folder: string): Promise<Record<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: Record<string, Buffer> = {};
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path).split(sep).join('/')] = await readFile(path);
  }
  return files;
}

function gitHash(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}
