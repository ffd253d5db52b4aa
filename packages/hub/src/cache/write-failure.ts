// File system errors of a download, in words for people, with what can be done. Caller: fetch-model.ts.

import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HubError } from '../errors.ts';

const DENIED: Readonly<Record<string, string>> = {
  EACCES: 'its permissions do not allow it',
  EPERM: 'its permissions do not allow it',
  EROFS: 'its disk is read-only',
};

const REASONS: Readonly<Record<string, string>> = {
  ...DENIED,
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  ENOTDIR: 'a file is in the place of one of its folders',
  EEXIST: 'a file is in the place of one of its folders',
  ENAMETOOLONG: 'the name of a file is too long for its disk',
};

const ADVICE = 'Make room or change the permission there, or choose another folder with HF_HUB_CACHE.';

/** The error to throw in place of `error`: itself where it is none of the file system. */
export async function toWriteFailure(error: unknown, cacheDir: string): Promise<unknown> {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof HubError || syscall === undefined || code === undefined) return error;
  // Creating folders on a read-only disk fails with ENOENT on some systems.
  const denied = code === 'ENOENT' ? await findDenied(cacheDir) : undefined;
  const reason = denied ?? REASONS[code] ?? code;
  const message = `The cache ${cacheDir} cannot be written: ${reason}. ${ADVICE}`;
  return new HubError('write_failed', message, { cause: error });
}

/** Why the nearest folder that exists takes no files. */
async function findDenied(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    return code === 'ENOENT' && parent !== path ? findDenied(parent) : DENIED[code];
  }
}
