// The record of which chunks of a partial file are whole: a header, and a line for each chunk. A line is written after its chunk
// is on disk, so a process that is killed at any moment leaves no line without its bytes. Lines end with a full stop, because
// the beginning of a torn number would be another number.

import { type FileHandle, open, readFile } from 'node:fs/promises';

export interface ChunkLayout {
  /** Size of the file. */
  readonly size: number;
  readonly chunkBytes: number;
}

export class ChunkJournal {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Begins a new record, in place of any. */
  static async create(path: string, layout: ChunkLayout): Promise<ChunkJournal> {
    const file = await open(path, 'w');
    return ChunkJournal.#begin(file, `${headerOf(layout)}\n`);
  }

  /** Continues a record. */
  static async continue(path: string): Promise<ChunkJournal> {
    const text = await readFile(path, 'utf8');
    const file = await open(path, 'a');
    // A torn line would swallow the next one.
    return ChunkJournal.#begin(file, text.endsWith('\n') ? '' : '\n');
  }

  /** Closes the file where the disk has no room for the text. */
  static async #begin(file: FileHandle, text: string): Promise<ChunkJournal> {
    try {
      await file.appendFile(text);
      return new ChunkJournal(file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async add(chunk: number): Promise<void> {
    await this.#file.appendFile(`${chunk}.\n`);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Chunks that are whole by the record; undefined for no record, and for one of another layout. */
export async function readJournal(
  path: string,
  layout: ChunkLayout,
): Promise<ReadonlySet<number> | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return parseJournal(text, layout);
}

/** As `readJournal`. */
export function parseJournal(text: string, layout: ChunkLayout): ReadonlySet<number> | undefined {
  const [header, ...lines] = text.split('\n').slice(0, -1);
  if (header !== headerOf(layout)) return undefined;
  const count = countChunks(layout);
  const chunks = lines.filter(line => /^\d+\.$/.test(line)).map(Number.parseFloat);
  return new Set(chunks.filter(chunk => chunk < count));
}

export function countChunks({ size, chunkBytes }: ChunkLayout): number {
  return Math.max(1, Math.ceil(size / chunkBytes));
}

function headerOf({ size, chunkBytes }: ChunkLayout): string {
  return `ortler ranges 1 ${size} ${chunkBytes}`;
}
