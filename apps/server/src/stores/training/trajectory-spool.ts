// The spool of one log call: buffers its records before the database transaction, a few in memory, many in a file. So a
// large body does not fill the memory, and a slow client does not keep a transaction open.

import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GroupRecord, TrajectoryRecord, TrajectorySpool } from '@ortler/api';

/** Size of one write to and one read from the file. */
const BLOCK_BYTES = 256 * 1024;
/** Largest spool in memory; a larger one is moved to a file. */
const MEMORY_BYTES = 1024 * 1024;

export type SpooledRecord =
  | ({ readonly kind: 'trajectory' } & TrajectoryRecord)
  | ({ readonly kind: 'group' } & GroupRecord);

/** A spool that can be read when it is complete. */
export interface ReadableSpool extends TrajectorySpool {
  records(): AsyncIterable<SpooledRecord>;
}

/** @param folder Folder of the file, if one is needed. */
export function openTrajectorySpool(folder: string): ReadableSpool {
  return new Spool(folder);
}

/**
 * Format of a record: one line of JSON (all fields but `json`, and the byte length of `json`), then the text of `json`.
 * The file is unlinked as soon as it is open, so that it never survives the process.
 */
class Spool implements ReadableSpool {
  readonly #folder: string;
  #blocks: Buffer[] = [];
  #blockBytes = 0;
  #file: FileHandle | undefined;
  #path: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  addTrajectory(record: TrajectoryRecord): Promise<void> {
    return this.#add({ kind: 'trajectory', ...record });
  }

  addGroup(record: GroupRecord): Promise<void> {
    return this.#add({ kind: 'group', ...record });
  }

  async *records(): AsyncGenerator<SpooledRecord> {
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
          head = JSON.parse(rest.toString('utf8', 0, end)) as { jsonBytes: number };
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

  async dispose(): Promise<void> {
    this.#blocks = [];
    await this.#file?.close();
    if (this.#path !== undefined) await rm(this.#path, { force: true });
    this.#file = undefined;
  }

  async #add({ json, ...fields }: SpooledRecord): Promise<void> {
    const body = Buffer.from(json);
    this.#blocks.push(Buffer.from(`${JSON.stringify({ ...fields, jsonBytes: body.length })}\n`), body);
    this.#blockBytes += body.length;
    const limit = this.#file === undefined ? MEMORY_BYTES : BLOCK_BYTES;
    if (this.#blockBytes >= limit) await this.#flush();
  }

  async #flush(): Promise<void> {
    this.#file ??= await this.#openFile();
    await this.#file.appendFile(Buffer.concat(this.#blocks));
    this.#blocks = [];
    this.#blockBytes = 0;
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
