// Errors of runners as errors of the engine: those of ONNX Runtime, and of model folders whose graph was loaded and then failed
// in its first calls.

import { OrtError } from '@ortler/onnxruntime';
import { EngineError } from '../../errors.ts';
import { MANIFEST_FILE } from '../../graph-contract/index.ts';

/** `orElse`: what else may be at fault than the folder, with the words before it. */
export function unfitModel(graphFile: string, modelDir: string, cause: unknown, orElse = ''): EngineError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${graphFile} does not fit ${MANIFEST_FILE} in ${modelDir}${orElse}: ${reason}`;
  return new EngineError('model_invalid', message, { cause });
}

/** An `OrtError` as an error of the engine; anything else stays as it is. */
export function fromOrtError(cause: unknown): unknown {
  if (!(cause instanceof OrtError)) return cause;
  const code = cause.code === 'model_invalid' ? 'model_invalid' : 'engine_failed';
  return new EngineError(code, cause.message, { cause });
}
