// The two files of a partial blob: opened again, or created. Caller: `partial-blob.ts`.

import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { PARTIAL_SUFFIX, RECORD_SUFFIX } from '../cache/layout.ts';
import type { RepositoryFile } from '../protocol/repository-info.ts';
import { ChunkJournal, type ChunkLayout, countChunks, readJournal } from './chunk-journal.ts';

export interface OpenFiles {
  readonly data: FileHandle;
  readonly journal: ChunkJournal;
  readonly missing: Set<number>;
}

/** Files that an earlier process left; undefined for none. */
export async function continueFiles(
  { size }: RepositoryFile,
  blob: string,
  chunkBytes: number,
): Promise<OpenFiles | undefined> {
  const layout = { size, chunkBytes };
  const whole = await readJournal(`${blob}${RECORD_SUFFIX}`, layout);
  const data = await open(`${blob}${PARTIAL_SUFFIX}`, 'r+').catch(() => undefined);
  if (whole === undefined || data === undefined) {
    await data?.close();
    return undefined;
  }
  const { size: writtenBytes } = await data.stat();
  const missing = new Set<number>();
  for (let chunk = 0; chunk < countChunks(layout); chunk++) {
    const end = Math.min(size, (chunk + 1) * chunkBytes);
    if (!whole.has(chunk) || end > writtenBytes) missing.add(chunk);
  }
  const journal = await ChunkJournal.continue(`${blob}${RECORD_SUFFIX}`).catch(async (error: unknown) => {
    await data.close();
    throw error;
  });
  return { data, journal, missing };
}

/** The record goes first and comes last, so that none is beside bytes that it does not describe. */
export async function createFiles(
  { size }: RepositoryFile,
  blob: string,
  chunkBytes: number,
): Promise<OpenFiles> {
  const layout = { size, chunkBytes };
  await rm(`${blob}${RECORD_SUFFIX}`, { force: true });
  const data = await open(`${blob}${PARTIAL_SUFFIX}`, 'w+');
  const journal = await ChunkJournal.create(`${blob}${RECORD_SUFFIX}`, layout).catch(
    async (error: unknown) => {
      await data.close();
      throw error;
    },
  );
  return {
    data,
    journal,
    missing: new Set(Array.from({ length: countChunks(layout) }, (_, chunk) => chunk)),
  };
}

/** Bytes of a partial blob that need not be downloaded again, without opening it. */
export async function countWholeBytes(
  { size }: RepositoryFile,
  blob: string,
  chunkBytes: number,
): Promise<number> {
  const whole = await readJournal(`${blob}${RECORD_SUFFIX}`, { size, chunkBytes });
  const data = await stat(`${blob}${PARTIAL_SUFFIX}`).catch(() => undefined);
  if (whole === undefined || data === undefined) return 0;
  return sumOf(whole, { size, chunkBytes });
}

/** Bytes of chunks. */
export function sumOf(chunks: ReadonlySet<number>, { size, chunkBytes }: ChunkLayout): number {
  return chunks
    .values()
    .reduce((sum, chunk) => sum + Math.min(size, (chunk + 1) * chunkBytes) - chunk * chunkBytes, 0);
}
