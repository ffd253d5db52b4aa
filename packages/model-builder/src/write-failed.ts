// What a failure of the file system means while a model folder is written.

import { ModelBuildError } from './errors.ts';

/** Turns a failure of the file system into `write_failed`. */
export async function writing<T>(outputDir: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw cause;
    const message = `${outputDir} cannot be written: ${syscall} failed with ${code}`;
    throw new ModelBuildError('write_failed', message, { file: outputDir, cause });
  }
}
