// Faults of GGUF files as errors of the builder.

import { GgufError, type GgufErrorCode } from '@ortler/gguf';
import { ModelBuildError, type ModelBuildErrorCode } from '../errors.ts';

const CODES: Readonly<Record<GgufErrorCode, ModelBuildErrorCode>> = {
  unreadable: 'source_invalid',
  corrupt: 'weights_corrupt',
  unsupported: 'unsupported',
};

/** Throws: `source_invalid`, `weights_corrupt` or `unsupported` for faults of the file, other errors unchanged. */
export async function readingGguf<T>(read: () => Promise<T>): Promise<T> {
  return read().catch((error: unknown) => {
    throw translated(error);
  });
}

/** As `readingGguf`, without reading from the disk. */
export function checkingGguf<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  if (!(error instanceof GgufError)) return error;
  const { code, message, file, tensor, key } = error;
  return new ModelBuildError(CODES[code], message, { file, tensor, key, cause: error });
}
