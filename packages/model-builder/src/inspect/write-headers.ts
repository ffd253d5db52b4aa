// Files of a model that is elsewhere, with their names and sizes here but only as much content as describing
// it needs: small files whole, of weights the headers. The rest of each file is a hole that takes no room on
// the disk.

import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GgufError, GgufFile } from '@ortler/gguf';
import { ROPE_FACTORS } from '../gguf/tensor-names.ts';
import { MAX_HEADER_BYTES } from '../hugging-face/safetensors.ts';

export interface RemoteFiles {
  /** Paths are relative to the folder, with slashes. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Bytes `[begin, end)` of a file. */
  read(path: string, begin: number, end: number): Promise<Uint8Array>;
}

/** Files that describe a model. Tokenizers are not read. */
const CONFIGURATION =
  /(^|\/)(config|generation_config|genai_config|adapter_config|ortler-model)\.json$|\.index\.json$/;

/** A graph up to this size is read whole; its weights are in other files. Unit: bytes. */
const MAX_GRAPH_BYTES = 32 * 1024 * 1024;

/** First request for a header, and the most of a GGUF header, which has the vocabulary. Unit: bytes. */
const FIRST_BYTES = 256 * 1024;
const MAX_GGUF_HEADER_BYTES = 256 * 1024 * 1024;

/** Mutates: the disk, in `folder`. Returns the paths of files that have no content. Throws: as `read`. */
export async function writeHeaders(folder: string, remote: RemoteFiles): Promise<ReadonlySet<string>> {
  const empty = new Set<string>();
  for (const { path, size } of remote.files) {
    const target = join(folder, ...path.split('/'));
    await mkdir(dirname(target), { recursive: true });
    const header = new HeaderFile(target, size, (begin, end) => remote.read(path, begin, end));
    await header.create();
    if (CONFIGURATION.test(path) || (path.endsWith('.onnx') && size <= MAX_GRAPH_BYTES))
      await header.fill(size);
    else if (path.endsWith('.safetensors')) await fillSafetensors(header);
    else if (/\.gguf$/i.test(path)) await fillGguf(header);
    else empty.add(target);
  }
  return empty;
}

class HeaderFile {
  readonly path: string;
  readonly size: number;
  readonly #read: (begin: number, end: number) => Promise<Uint8Array>;
  /** Bytes from the beginning that are there. */
  #filled = 0;

  constructor(path: string, size: number, read: (begin: number, end: number) => Promise<Uint8Array>) {
    this.path = path;
    this.size = size;
    this.#read = read;
  }

  get filled(): number {
    return this.#filled;
  }

  /** A hole of the file's size. Mutates: the disk. */
  async create(): Promise<void> {
    const file = await open(this.path, 'wx');
    await file.truncate(this.size).finally(() => file.close());
  }

  /** Copies the content up to `end` that is not there yet. Mutates: the disk. */
  async fill(end: number): Promise<void> {
    const begin = this.#filled;
    this.#filled = Math.min(this.size, Math.max(begin, end));
    if (this.#filled > begin) await this.copy(begin, this.#filled);
  }

  /** Mutates: the disk. */
  async copy(begin: number, end: number): Promise<void> {
    const bytes = await this.#read(begin, end);
    const file = await open(this.path, 'r+');
    await file.write(bytes, 0, bytes.length, begin).finally(() => file.close());
  }
}

/** A header that is too long or damaged stays as it is: its reader tells the fault. */
async function fillSafetensors(header: HeaderFile): Promise<void> {
  await header.fill(FIRST_BYTES);
  const start = await readStart(header.path, 8);
  if (start.length < 8) return;
  const length = start.readBigUInt64LE();
  if (length <= BigInt(MAX_HEADER_BYTES)) await header.fill(8 + Number(length));
}

/** The length of the header shows only where it was read to its end. */
async function fillGguf(header: HeaderFile): Promise<void> {
  for (let bytes = 4 * FIRST_BYTES; ; bytes *= 4) {
    await header.fill(bytes);
    const isAll = header.filled === header.size || header.filled >= MAX_GGUF_HEADER_BYTES;
    const file = await GgufFile.open(header.path).catch((error: unknown) => {
      if (error instanceof GgufError) return undefined;
      throw error;
    });
    await file?.close();
    if (file === undefined || file.headerBytes > header.filled) {
      if (isAll) return;
      continue;
    }
    // The only tensor that is part of the configuration.
    const factors = file.tensors.get(ROPE_FACTORS);
    if (factors !== undefined) await header.copy(factors.begin, factors.end);
    return;
  }
}

async function readStart(path: string, count: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
