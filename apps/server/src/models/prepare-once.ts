// Builds a model in one process at a time. Servers that share a build cache start together, and each would build the same model
// in its own memory. The lock is one of the operating system, which frees it with the process, however that ends.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { withFileLock } from '@ortler/hub';
import { type PrepareModelOptions, prepareModel } from '@ortler/model-builder';

/**
 * As `prepareModel`, after other processes that prepare the same model in this cache. @param onWait Another process does.
 * Throws: `ModelBuildError`, or the reason of the signal.
 */
export async function prepareOnce(
  options: PrepareModelOptions,
  onWait: () => void,
  prepare: typeof prepareModel = prepareModel,
): Promise<string> {
  const { sourceDir, adapterDir, cacheDir, precision, variants, kvType, contextLength, signal } = options;
  const what = JSON.stringify([sourceDir, adapterDir, precision, variants, kvType, contextLength]);
  const name = `${createHash('sha256').update(what).digest('hex').slice(0, 32)}.lock`;
  let hasLock = false;
  try {
    return await withFileLock(join(cacheDir, 'locks', name), { signal, onWait }, () => {
      hasLock = true;
      return prepare(options);
    });
  } catch (error) {
    // Some shared disks have no locks, and some are full; building twice at once is slower, and as correct.
    if (hasLock || signal?.aborted === true) throw error;
    return prepare(options);
  }
}
