// The spool of one log call: buffers its records before the database transaction, a few in memory, many in a file. So a
// large body does not fill the memory, and a slow client does not keep a transaction open.

import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transferable } from 'node:worker_threads';
import type { GroupRecord, TrajectoryRecord, TrajectorySpool } from '@ortler/api';
import { parseNatively } from '@ortler/json';

/** Size of one write to and one read from the file; a longer text is a block of its own. */
const BLOCK_BYTES = 256 * 1024;
/** Largest spool in memory; a larger one is moved to a file. */
const MEMORY_BYTES = 1024 * 1024;
/** The first block of a spool; each is as large as all before it, up to `BLOCK_BYTES`. */
const FIRST_BLOCK_BYTES = 16 * 1024;

export type SpooledRecord =
  | ({ readonly kind: 'trajectory' } & TrajectoryRecord)
  | ({ readonly kind: 'group' } & GroupRecord);

/** A spool that can be read when it is complete. */
export interface ReadableSpool extends TrajectorySpool {
  records(): AsyncIterable<SpooledRecord>;
}

/** The records of a spool, to hand to another thread. */
export interface SpoolContents {
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly file: FileHandle | undefined;
  /** Of the file. */
  readonly path: string | undefined;
}

/** A spool that can be moved to another thread. */
export interface MovableSpool extends ReadableSpool {
  /** Ends the spool here, without `dispose`. */
  move(): Promise<{ readonly contents: SpoolContents; readonly transfer: readonly Transferable[] }>;
}

/** @param folder Folder of the file, if one is needed. */
export function openTrajectorySpool(folder: string): MovableSpool {
  return new Spool(folder);
}

/** The spool of another thread. */
export function receiveTrajectorySpool(folder: string, contents: SpoolContents): ReadableSpool {
  return new Spool(folder, contents);
}

/**
 * Format of a record: one line of JSON (all fields but `json`, and the byte length of `json`), then the text of `json`.
 * The file is unlinked as soon as it is open, so that it never survives the process.
 */
class Spool implements MovableSpool {
  readonly #folder: string;
  /** Full blocks. Records are written into blocks, because two buffers for each would cost the garbage collector most of its time. */
  #blocks: Buffer<ArrayBuffer>[] = [];
  /** Bytes of all blocks, `#block` included. */
  #byteCount = 0;
  #block = Buffer.alloc(0);
  /** How much of `#block` is written. */
  #end = 0;
  #file: FileHandle | undefined;
  #path: string | undefined;

  constructor(folder: string, contents?: SpoolContents) {
    this.#folder = folder;
    if (contents === undefined) return;
    this.#blocks = contents.blocks.map(({ buffer, byteOffset, length }) =>
      Buffer.from(buffer, byteOffset, length),
    );
    this.#file = contents.file;
    this.#path = contents.path;
  }

  addTrajectory(record: TrajectoryRecord): Promise<void> {
    return this.#add({ kind: 'trajectory', ...record });
  }

  addGroup(record: GroupRecord): Promise<void> {
    return this.#add({ kind: 'group', ...record });
  }

  async *records(): AsyncGenerator<SpooledRecord> {
    this.#endBlock();
    const source = this.#file === undefined ? this.#blocks : this.#readFile(this.#file);
    let rest = Buffer.alloc(0);
    let wanted = 0;
    let parts: Buffer[] = [];
    let head: { jsonBytes: number } | undefined;
    for await (const block of source) {
      // Blocks are concatenated only when a record is complete, so that a long text is copied once.
      parts.push(block);
      wanted -= block.length;
      if (wanted > 0) continue;
      rest = Buffer.concat([rest, ...parts]);
      parts = [];
      for (;;) {
        if (head === undefined) {
          const end = rest.indexOf(LINE_END);
          if (end === -1) break;
          head = parseNatively(rest.toString('utf8', 0, end)) as { jsonBytes: number };
          rest = rest.subarray(end + 1);
        }
        const { jsonBytes, ...fields } = head;
        if (rest.length < jsonBytes) {
          wanted = jsonBytes - rest.length;
          break;
        }
        yield { ...fields, json: rest.toString('utf8', 0, jsonBytes) } as SpooledRecord;
        rest = rest.subarray(jsonBytes);
        head = undefined;
      }
    }
  }

  async move(): Promise<{ contents: SpoolContents; transfer: Transferable[] }> {
    this.#endBlock();
    if (this.#file !== undefined) await this.#flush();
    const contents = { blocks: this.#blocks, file: this.#file, path: this.#path };
    this.#blocks = [];
    this.#file = undefined;
    this.#path = undefined;
    const memory = contents.blocks.map(({ buffer }) => buffer);
    return { contents, transfer: contents.file === undefined ? memory : [...memory, contents.file] };
  }

  async dispose(): Promise<void> {
    this.#blocks = [];
    this.#block = Buffer.alloc(0);
    this.#end = 0;
    await this.#file?.close();
    if (this.#path !== undefined) await rm(this.#path, { force: true });
    this.#file = undefined;
  }

  async #add({ json, ...fields }: SpooledRecord): Promise<void> {
    const jsonBytes = Buffer.byteLength(json);
    const head = `${JSON.stringify({ ...fields, jsonBytes })}\n`;
    this.#write(head, Buffer.byteLength(head));
    this.#write(json, jsonBytes);
    const limit = this.#file === undefined ? MEMORY_BYTES : BLOCK_BYTES;
    if (this.#byteCount >= limit) await this.#flush();
  }

  #write(text: string, byteCount: number): void {
    if (byteCount > this.#block.length - this.#end) {
      this.#endBlock();
      const usual = Math.min(Math.max(FIRST_BLOCK_BYTES, this.#byteCount), BLOCK_BYTES);
      this.#block = Buffer.allocUnsafeSlow(Math.max(usual, byteCount));
    }
    this.#end += this.#block.write(text, this.#end);
    this.#byteCount += byteCount;
  }

  #endBlock(): void {
    if (this.#end > 0) this.#blocks.push(this.#block.subarray(0, this.#end));
    this.#block = Buffer.alloc(0);
    this.#end = 0;
  }

  async #flush(): Promise<void> {
    this.#endBlock();
    this.#file ??= await this.#openFile();
    for (const block of this.#blocks) await this.#file.appendFile(block);
    this.#blocks = [];
    this.#byteCount = 0;
  }

  async #openFile(): Promise<FileHandle> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, randomUUID());
    this.#path = path;
    const file = await open(path, 'wx+', 0o600);
    // On systems that cannot unlink open files, `dispose` removes it.
    await rm(path, { force: true }).catch(() => undefined);
    return file;
  }

  async *#readFile(file: FileHandle): AsyncGenerator<Buffer> {
    await this.#flush();
    for (let position = 0; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(BLOCK_BYTES), 0, BLOCK_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}

const LINE_END = 0x0a;
