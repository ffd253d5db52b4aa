// Maps file system errors during a build to `write_failed`. Callers: `build-hashed-model.ts`, `exported/ensure-export.ts`.

import { dirname } from 'node:path';
import { ModelBuildError } from './errors.ts';
import { explainUnwritable } from './explain-unwritable.ts';

/** Runs `write`. Throws: `write_failed` for file system errors, other errors unchanged. */
export async function writing<T>(outputDir: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw cause;
    const reason = await explainUnwritable(dirname(outputDir), cause);
    const message = `${outputDir} cannot be written: ${reason}; make room or change the permission, or choose another folder for builds`;
    throw new ModelBuildError('write_failed', message, { file: outputDir, cause });
  }
}
