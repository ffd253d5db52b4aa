// Free space on the disk before a build writes its first byte: a build that fills the disk stops everything else that writes there.

import { statfs } from 'node:fs/promises';
import { ModelBuildError } from './errors.ts';

/** Left free for what others write meanwhile, such as a database. */
const RESERVE_BYTES = 16 * 1024 * 1024;

/** Throws: `write_failed` where the weights of a build do not fit. */
export async function checkRoom(folder: string, outputDir: string, weightBytes: number): Promise<void> {
  // Some file systems do not say it.
  const stats = await statfs(folder).catch(() => undefined);
  if (stats === undefined || stats.blocks === 0) return;
  const freeBytes = stats.bavail * stats.bsize;
  if (weightBytes + RESERVE_BYTES <= freeBytes) return;
  const message = `${outputDir} cannot be written: it takes ${weightBytes} bytes, and the disk has ${freeBytes} bytes left, of which ${RESERVE_BYTES} stay free; make room, or choose another folder for builds`;
  throw new ModelBuildError('write_failed', message, { file: outputDir });
}
