// What a folder is told whose graph was loaded and then failed in its first calls.

import { EngineError } from '../../errors.ts';
import { MANIFEST_FILE } from '../../graph-contract.ts';

/** `orElse`: what else may be at fault than the folder, with the words before it. */
export function unfitModel(graphFile: string, modelDir: string, cause: unknown, orElse = ''): EngineError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${graphFile} does not fit ${MANIFEST_FILE} in ${modelDir}${orElse}: ${reason}`;
  return new EngineError('model_invalid', message, { cause });
}
