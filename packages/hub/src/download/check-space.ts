// Disk and memory before the first byte of weights.

import { mkdir, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { HubError } from '../errors.ts';
import { formatBytes } from '../format-bytes.ts';

export interface DownloadPlan {
  /** Size of all files, those that are there included. */
  readonly totalBytes: number;
  /** Bytes that are left to download. */
  readonly missingBytes: number;
  /** Free space on the disk of the cache. */
  readonly freeDiskBytes: number;
  /** Memory of the machine. */
  readonly memoryBytes: number;
}

/** Left free, because a disk that is full to the last byte breaks other programs. A build leaves as much. */
const RESERVE_BYTES = 16 * 1024 * 1024;

/** Throws: `no_space`. */
export async function planDownload(
  cacheDir: string,
  { totalBytes, missingBytes }: Pick<DownloadPlan, 'totalBytes' | 'missingBytes'>,
): Promise<DownloadPlan> {
  await mkdir(cacheDir, { recursive: true });
  const { bavail, blocks, bsize } = await statfs(cacheDir);
  const freeDiskBytes = bavail * bsize;
  // Some file systems do not say it.
  if (blocks > 0 && missingBytes + RESERVE_BYTES > freeDiskBytes)
    throw new HubError(
      'no_space',
      `${formatBytes(missingBytes)} are to be downloaded, and the disk of ${cacheDir} has ${formatBytes(freeDiskBytes)} left, of which ${formatBytes(RESERVE_BYTES)} stay free. Make room there, for example by removing models from it, or choose another folder with HF_HUB_CACHE.`,
    );
  return { totalBytes, missingBytes, freeDiskBytes, memoryBytes: totalmem() };
}
