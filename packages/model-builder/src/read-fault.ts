// Why a file or folder of a source cannot be read, as the error to throw.

import { access, constants, stat } from 'node:fs/promises';
import { ModelBuildError } from './errors.ts';

/** From what the system says: `source_invalid` where there is nothing, `source_unreadable` where reading is denied or failed. */
export function readFault(path: string, cause: unknown): ModelBuildError {
  const { code } = cause as NodeJS.ErrnoException;
  const details = { file: path, cause };
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new ModelBuildError('source_invalid', `${path} does not exist`, details);
  const reason =
    code === 'EACCES' || code === 'EPERM' ? 'may not be read by this user' : `cannot be read (${code})`;
  return new ModelBuildError('source_unreadable', `${path} ${reason}`, details);
}

/** Before the files of a folder are missed in it. Throws: `source_invalid`, `source_unreadable`. */
export async function checkReadable(path: string): Promise<void> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    await access(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
  } catch (cause) {
    throw readFault(path, cause);
  }
}
