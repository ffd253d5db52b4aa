// Finds where an export goes on: its last whole line, of any length, read backwards in pieces.

import { constants } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import type { Cursor } from '@ortler/feedback-query';
import { UserError } from '../user-error.ts';

const LINE_FEED = 0x0a;
const PIECE_BYTES = 1024 * 1024;

export interface LastRow {
  /** Null where no row is whole. */
  readonly cursor: Cursor | null;
  /** Where the next row belongs. Unit: bytes. */
  readonly end: number;
}

/**
 * The last whole row of an export. Only it is held in memory. Throws: `UserError` for a file that is not an
 * export.
 */
export async function findLastRow(handle: FileHandle, file: string): Promise<LastRow> {
  const { size } = await handle.stat();
  const end = await findLineFeed(handle, size);
  if (end === -1) {
    // What is left of a first row begins as one.
    if (size > 0 && (await readText(handle, 0, 1)) !== '{') throw notAnExport(file);
    return { cursor: null, end: 0 };
  }
  const start = (await findLineFeed(handle, end)) + 1;
  // No export has written a row that no text can hold.
  if (end - start > constants.MAX_STRING_LENGTH) throw notAnExport(file);
  const { created_at, id } = parseRow(await readText(handle, start, end), file);
  if (typeof created_at !== 'string' || typeof id !== 'string') throw notAnExport(file);
  return { cursor: [created_at, id], end: end + 1 };
}

/** Position of the last line feed before `end`; -1 where there is none. Unit: bytes. */
async function findLineFeed(handle: FileHandle, end: number): Promise<number> {
  const piece = Buffer.alloc(Math.min(PIECE_BYTES, end));
  for (let pieceEnd = end; pieceEnd > 0; ) {
    const start = Math.max(0, pieceEnd - piece.length);
    const { bytesRead } = await handle.read(piece, 0, pieceEnd - start, start);
    const found = piece.subarray(0, bytesRead).lastIndexOf(LINE_FEED);
    if (found !== -1) return start + found;
    pieceEnd = start;
  }
  return -1;
}

async function readText(handle: FileHandle, start: number, end: number): Promise<string> {
  const bytes = Buffer.alloc(end - start);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.toString('utf8');
}

function parseRow(line: string, file: string): { readonly created_at?: unknown; readonly id?: unknown } {
  try {
    return Object(JSON.parse(line)) as object;
  } catch {
    throw notAnExport(file);
  }
}

function notAnExport(file: string): UserError {
  return new UserError(`${file} does not end with a row of an export; choose another file.`);
}
