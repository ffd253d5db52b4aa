// A blob while it is downloaded: a file with holes, the record of its whole chunks, the check of its hash, and its final name.
//
//   blobs/<hash>.ortler.incomplete   the bytes, each at its place
//   blobs/<hash>.ortler.ranges       the record
//
// The names are our own, because other programs take the length of <hash>.incomplete for the number of its whole bytes.

import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../cache/durable-files.ts';
import { PARTIAL_SUFFIX, RECORD_SUFFIX } from '../cache/layout.ts';
import type { RepositoryFile } from '../protocol/repository-info.ts';
import type { ChunkJournal } from './chunk-journal.ts';
import { continueFiles, createFiles, type OpenFiles, sumOf } from './partial-files.ts';

/** Bytes read at once for the hash. */
const HASH_STEP_BYTES = 1024 * 1024;

export class PartialBlob {
  readonly file: RepositoryFile;
  readonly #blob: string;
  readonly #chunkBytes: number;
  readonly #missing: Set<number>;
  /** Bytes of chunks that are not whole yet. */
  readonly #begun = new Map<number, number>();
  #wholeBytes = 0;
  #data: FileHandle;
  #journal: ChunkJournal;

  private constructor(
    file: RepositoryFile,
    blob: string,
    chunkBytes: number,
    { data, journal, missing }: OpenFiles,
  ) {
    this.file = file;
    this.#blob = blob;
    this.#chunkBytes = chunkBytes;
    this.#data = data;
    this.#journal = journal;
    this.#missing = missing;
    this.#wholeBytes = file.size - sumOf(missing, { size: file.size, chunkBytes });
  }

  /** Continues the files of an earlier process, or begins. `blob` is the final path. Mutates: the disk. */
  static async open(file: RepositoryFile, blob: string, chunkBytes: number): Promise<PartialBlob> {
    await mkdir(dirname(blob), { recursive: true });
    const files =
      (await continueFiles(file, blob, chunkBytes)) ?? (await createFiles(file, blob, chunkBytes));
    return new PartialBlob(file, blob, chunkBytes, files);
  }

  /** Runs of missing chunks, none longer than `rangeBytes`. An empty file has one run without bytes. */
  missingRanges(rangeBytes: number): readonly ByteRange[] {
    const ranges: { start: number; end: number }[] = [];
    for (const chunk of [...this.#missing].toSorted((a, b) => a - b)) {
      const { start, end } = this.chunkAt(chunk * this.#chunkBytes);
      const last = ranges.at(-1);
      if (last?.end === start && end - last.start <= rangeBytes) last.end = end;
      else ranges.push({ start, end });
    }
    return ranges;
  }

  /** Bytes that are there, those of chunks that are not whole yet included. */
  get presentBytes(): number {
    const begun = this.#begun.values().reduce((sum, bytes) => sum + bytes, 0);
    return this.wholeBytes + begun;
  }

  /** Bytes of whole chunks. */
  get wholeBytes(): number {
    return this.#wholeBytes;
  }

  get isWhole(): boolean {
    return this.#missing.size === 0;
  }

  /** The chunk of a position. */
  chunkAt(position: number): Chunk {
    const index = Math.floor(position / this.#chunkBytes);
    const start = index * this.#chunkBytes;
    const end = Math.min(this.file.size, start + this.#chunkBytes);
    return { index, start, end, isMissing: this.#missing.has(index) };
  }

  /**
   * Writes bytes to their place, and records each chunk that they complete. Those of whole chunks are skipped. A chunk is
   * written from its beginning to its end, by one caller at a time.
   */
  async write(position: number, bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length; ) {
      const chunk = this.chunkAt(position + offset);
      const part = bytes.subarray(offset, offset + chunk.end - (position + offset));
      if (chunk.isMissing) await this.#writePart(chunk, position + offset, part);
      offset += part.length;
    }
  }

  /** Records an empty file, which has no bytes that would complete its only chunk. */
  async writeNothing(): Promise<void> {
    await this.#finish(this.chunkAt(0));
  }

  async #writePart(chunk: Chunk, position: number, bytes: Uint8Array): Promise<void> {
    const begunBytes = position - chunk.start;
    if (begunBytes !== 0 && begunBytes !== this.#begun.get(chunk.index))
      throw new Error(`Invariant broken: ${this.file.path} has a gap before byte ${position}`);
    for (let written = 0; written < bytes.length; ) {
      const step = await this.#data.write(bytes, written, bytes.length - written, position + written);
      written += step.bytesWritten;
    }
    this.#begun.set(chunk.index, begunBytes + bytes.length);
    if (position + bytes.length === chunk.end) await this.#finish(chunk);
  }

  async #finish({ index, start, end }: Chunk): Promise<void> {
    await this.#data.datasync();
    await this.#journal.add(index);
    this.#begun.delete(index);
    this.#missing.delete(index);
    this.#wholeBytes += end - start;
  }

  /** Hash of the file as it is on disk. Throws: the reason of `signal`. */
  async computeHash(onStep: () => void, signal: AbortSignal | undefined): Promise<string> {
    const { hashKind, size } = this.file;
    const hash = createHash(hashKind === 'sha256' ? 'sha256' : 'sha1');
    // Git hashes a blob with its type and length in front.
    if (hashKind === 'git-sha1') hash.update(`blob ${size}\0`);
    const buffer = Buffer.allocUnsafe(Math.min(HASH_STEP_BYTES, Math.max(1, size)));
    for (let position = 0; position < size; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await this.#data.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
      onStep();
    }
    return hash.digest('hex');
  }

  /** Gives the blob its name. Its hash has been checked. The blob must not be used afterwards. */
  async publish(): Promise<void> {
    await this.#data.sync();
    await this.close();
    await rename(`${this.#blob}${PARTIAL_SUFFIX}`, this.#blob);
    await syncFolder(dirname(this.#blob));
    await rm(`${this.#blob}${RECORD_SUFFIX}`, { force: true });
  }

  /** Forgets all bytes, because they have another hash. */
  async reset(): Promise<void> {
    await this.close();
    const { data, journal, missing } = await createFiles(this.file, this.#blob, this.#chunkBytes);
    this.#data = data;
    this.#journal = journal;
    this.#begun.clear();
    this.#wholeBytes = 0;
    for (const chunk of missing) this.#missing.add(chunk);
  }

  async close(): Promise<void> {
    await this.#journal.close();
    await this.#data.close();
  }
}

/** From `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A part of a file that is recorded as a whole. */
interface Chunk extends ByteRange {
  readonly index: number;
  readonly isMissing: boolean;
}
