// Records of one log call on their way to the database. A few stay in memory; many go to a file, so that neither a
// large body fills the memory nor a slow one holds a transaction open.

import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GroupRecord, TrajectoryRecord, TrajectorySpool } from '@ortler/api';

/** What is gathered before a write, and read at once. Unit: bytes. */
const BLOCK_BYTES = 256 * 1024;
/** Up to here no file is made. Unit: bytes. */
const MEMORY_BYTES = 1024 * 1024;

export type SpooledRecord =
  | ({ readonly kind: 'trajectory' } & TrajectoryRecord)
  | ({ readonly kind: 'group' } & GroupRecord);

/** A spool that can be read back, once it is complete. */
export interface ReadableSpool extends TrajectorySpool {
  records(): AsyncIterable<SpooledRecord>;
}

/** @param folder Where the file is made, if there is one. */
export function openTrajectorySpool(folder: string): ReadableSpool {
  return new Spool(folder);
}

/**
 * A record is a line of JSON (everything but the text that was sent, and the length of that text in bytes) and then
 * that text. The file loses its name as soon as it is open, so that nothing is left of it whatever happens.
 */
class Spool implements ReadableSpool {
  readonly #folder: string;
  #blocks: Buffer[] = [];
  #blockBytes = 0;
  #file: FileHandle | undefined;
  #path = '';

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
      // Blocks are joined only when there are enough of them: a long text would be copied with every block otherwise.
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
    if (this.#path !== '') await rm(this.#path, { force: true });
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
    this.#path = join(this.#folder, randomUUID());
    const file = await open(this.#path, 'wx+', 0o600);
    // Where open files cannot lose their name, `dispose` removes it.
    await rm(this.#path, { force: true }).catch(() => undefined);
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
