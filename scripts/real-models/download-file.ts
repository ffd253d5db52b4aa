// One file over HTTPS, into a file that may hold its beginning from an attempt that was cut.

import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as wait } from 'node:timers/promises';

const ATTEMPTS = 4;
const PAUSE_MS = 1_000;

const RANGE_NOT_SATISFIABLE = 416;
const PARTIAL_CONTENT = 206;

/** Mutates: `path`. Throws: the last failure, after a few attempts. */
export async function downloadFile(
  url: string,
  path: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await continueDownload(url, path, onProgress);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await wait(attempt * PAUSE_MS);
    }
  }
}

async function continueDownload(
  url: string,
  path: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<void> {
  const hasBytes = (await sizeOf(path)) ?? 0;
  const response = await fetch(url, hasBytes > 0 ? { headers: { range: `bytes=${hasBytes}-` } } : {});
  // Nothing is left; the hash says whether the file is whole.
  if (response.status === RANGE_NOT_SATISFIABLE) return;
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}.`);
  const isContinued = response.status === PARTIAL_CONTENT;
  let doneBytes = isContinued ? hasBytes : 0;
  const totalBytes = doneBytes + Number(response.headers.get('content-length'));
  const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
  body.on('data', (chunk: Uint8Array) => {
    doneBytes += chunk.length;
    onProgress(doneBytes, totalBytes);
  });
  await pipeline(body, createWriteStream(path, { flags: isContinued ? 'a' : 'w' }));
}

/** Undefined where there is no file. */
export async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}
