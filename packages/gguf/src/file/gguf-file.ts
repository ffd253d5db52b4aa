// One GGUF file: the whole header is read and checked on opening, bytes of tensors are read on demand.
// Format: magic, version, counts; key-value pairs; tensor descriptions; padding; tensors.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { GgufError } from '../errors.ts';
import type { GgufMetadata } from '../metadata.ts';
import { HeaderReader } from './header-reader.ts';
import { readMetadata, SMALLEST_PAIR_BYTES } from './read-metadata.ts';
import { type GgufTensor, placeTensors, readTensorInfos, SMALLEST_TENSOR_BYTES } from './read-tensors.ts';

/** Without blocking: a pipe would wait for its writer before it is refused. Windows has no such flag. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const MAGIC = 'GGUF';
/** Start of a Git LFS pointer, which a clone without Git LFS has in place of the file. */
const GIT_LFS_START = 'vers';

/** The two have the same layout; version 3 allows big-endian files. */
const VERSIONS = [2, 3] as const;

const DEFAULT_ALIGNMENT = 32;
/** Far above any alignment in use; a larger one is a damaged number. */
const MAX_ALIGNMENT = 1 << 20;

interface Header {
  readonly metadata: GgufMetadata;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Where the tensors begin: the length of the header. */
  readonly dataStart: number;
}

/** An open GGUF file with a checked header; `close` must be called. */
export class GgufFile {
  readonly path: string;
  readonly metadata: GgufMetadata;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Length of the header. Unit: bytes. */
  readonly headerBytes: number;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle, { metadata, tensors, dataStart }: Header) {
    this.path = path;
    this.#handle = handle;
    this.metadata = metadata;
    this.tensors = tensors;
    this.headerBytes = dataStart;
  }

  /** Throws: `unreadable`, `corrupt`, `unsupported`. */
  static async open(path: string): Promise<GgufFile> {
    const handle = await open(path, READ_FLAGS).catch((cause: unknown) => {
      const { code } = cause as NodeJS.ErrnoException;
      const reason = code === 'ENOENT' ? 'does not exist' : `cannot be opened (${code})`;
      throw new GgufError('unreadable', `${path} ${reason}`, { file: path, cause });
    });
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new GgufError('unreadable', `${path} is not a file`, { file: path });
      return new GgufFile(
        path,
        handle,
        readHeader(new HeaderReader(path, handle.fd, stats.size), stats.size),
      );
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Fills `target` with bytes of the file from `position`. Mutates: `target`. Throws: `corrupt` where the file ends. */
  async read(target: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < target.length) {
      const { bytesRead } = await this.#handle.read(target, done, target.length - done, position + done);
      if (bytesRead === 0) {
        const message = `${this.path} ended at byte ${position + done} while it was read`;
        throw new GgufError('corrupt', message, { file: this.path });
      }
      done += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

function readHeader(reader: HeaderReader, size: number): Header {
  checkMagic(reader);
  checkVersion(reader);
  const tensorCount = reader.length(SMALLEST_TENSOR_BYTES);
  const metadata = readMetadata(reader, reader.length(SMALLEST_PAIR_BYTES));
  const alignment = readAlignment(reader, metadata);
  const tensors = readTensorInfos(reader, tensorCount, alignment);
  const dataStart = Math.ceil(reader.position / alignment) * alignment;
  return { metadata, tensors: placeTensors(reader, tensors, { dataStart, size }), dataStart };
}

function checkMagic(reader: HeaderReader): void {
  const magic = reader.bytes(4).toString('latin1');
  if (magic === MAGIC) return;
  if (magic === GIT_LFS_START)
    throw reader.corrupt('this is a pointer of Git LFS, not the model: fetch it with "git lfs pull"');
  throw reader.corrupt(`a GGUF file begins with "${MAGIC}", this one with ${JSON.stringify(magic)}`);
}

function checkVersion(reader: HeaderReader): void {
  const version = reader.uint32();
  if ((VERSIONS as readonly number[]).includes(version)) return;
  // A small number with its bytes in the other order.
  if (version !== 0 && (version & 0xffff) === 0)
    throw reader.unsupported('the file is big-endian; only little-endian files are read');
  throw reader.unsupported(`version ${version} is not supported; supported: ${VERSIONS.join(' and ')}`);
}

function readAlignment(reader: HeaderReader, metadata: GgufMetadata): number {
  const key = 'general.alignment';
  const alignment = metadata.get(key) ?? DEFAULT_ALIGNMENT;
  const isPower = typeof alignment === 'number' && Number.isInteger(Math.log2(alignment));
  if (isPower && alignment >= 1 && alignment <= MAX_ALIGNMENT) return alignment;
  reader.enter({ name: `metadata key "${key}"`, key });
  throw reader.corrupt(`is ${String(alignment)}; allowed: powers of two up to ${MAX_ALIGNMENT}`);
}
