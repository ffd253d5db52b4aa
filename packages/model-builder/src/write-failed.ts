// What a failure of the file system means while a model folder is written.

import { OnnxError } from '@ortler/onnx';
import { ModelBuildError } from './errors.ts';

/** Turns a failure of the file system, or a data file that became shorter, into `write_failed`. */
export async function writing<T>(outputDir: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    if (cause instanceof OnnxError) {
      const { message, file, tensor } = cause;
      throw new ModelBuildError('write_failed', message, {
        ...(file !== undefined && { file }),
        ...(tensor !== undefined && { tensor }),
        cause,
      });
    }
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw cause;
    const message = `${outputDir} cannot be written: ${syscall} failed with ${code}`;
    throw new ModelBuildError('write_failed', message, { file: outputDir, cause });
  }
}
