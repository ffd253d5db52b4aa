// `ortler feedback export`: writes all feedback of a project as JSON lines, page by page, oldest first. `--resume`
// continues an interrupted export after its last complete line.

import { type FileHandle, open } from 'node:fs/promises';
import { type FeedbackStore, parseRows } from '@ortler/api';
import { bindFeedbackQuery, type Cursor } from '@ortler/feedback-query';
import type { Config } from '../../config/config.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { createRowCounter, requireDatabase, withFeedback } from '../with-database.ts';
import { findLastRow } from './find-last-row.ts';

export interface ExportOptions {
  readonly projectId: string;
  readonly file: string;
  /** Continues an existing file; without it, the file must not exist. */
  readonly resume: boolean;
}

/** Rows per page, and their bytes. */
const PAGE_SIZE = 1_000;
const PAGE_BYTES = 16 * 1024 * 1024;

/** Returns the number of rows written. Throws: `UserError`. */
export async function exportFeedback(
  config: Config,
  options: ExportOptions,
  terminal: Terminal,
): Promise<number> {
  requireDatabase(config);
  return withFeedback(config, async ({ store }) => {
    const handle = await openFile(options);
    try {
      const after = options.resume ? await cutToWholeRows(handle, options.file) : null;
      const rows = createRowCounter(terminal, 'exported');
      const count = await writePages(store, options.projectId, after, handle, rows.update);
      await handle.sync();
      rows.end(`exported ${count} rows to ${options.file}`);
      return count;
    } finally {
      await handle.close();
    }
  });
}

async function openFile({ file, resume }: ExportOptions): Promise<FileHandle> {
  try {
    return await open(file, resume ? 'r+' : 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UserError(`${file} exists already; --resume continues it.`);
    if (code === 'ENOENT') throw new UserError(`${file} cannot be opened: there is no such file or folder.`);
    throw error;
  }
}

/** The cursor after the last whole row. Mutates: the file, from which an incomplete last line is removed. Throws: `UserError`. */
async function cutToWholeRows(handle: FileHandle, file: string): Promise<Cursor | null> {
  const { cursor, end } = await findLastRow(handle, file);
  await handle.truncate(end);
  return cursor;
}

async function writePages(
  store: FeedbackStore,
  projectId: string,
  first: Cursor | null,
  handle: FileHandle,
  onRows: (count: number) => void,
): Promise<number> {
  let after = first;
  let count = 0;
  let position = (await handle.stat()).size;
  for (;;) {
    const page = await store.query(
      bindFeedbackQuery({ projectId, after, withCursor: true, limit: PAGE_SIZE }),
      { maxBytes: PAGE_BYTES },
    );
    const { rowCount, lastCursor } = page;
    if (rowCount === 0) return count;
    const text = Buffer.from(
      parseRows(page)
        .map(row => `${JSON.stringify(row)}\n`)
        .join(''),
    );
    await writeWhole(handle, text, position);
    position += text.length;
    count += rowCount;
    onRows(count);
    after = lastCursor;
  }
}

/** Writes all of `text`: where a disk fills up, a write ends early and only the next one fails. Throws: `UserError`. */
async function writeWhole(handle: FileHandle, text: Uint8Array, position: number): Promise<void> {
  try {
    for (let done = 0; done < text.length; )
      done += (await handle.write(text, done, text.length - done, position + done)).bytesWritten;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    throw new UserError('The disk of the export is full. Free some space and continue with --resume.', {
      cause: error,
    });
  }
}
