// Maps file system errors during a build to `write_failed`. Callers: `build-model.ts`, `exported/ensure-export.ts`.

import { ModelBuildError } from './errors.ts';

/** Runs `write`. Throws: `write_failed` for file system errors, other errors unchanged. */
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
