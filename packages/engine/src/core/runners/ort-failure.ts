// Errors of ONNX Runtime as errors of the engine.

import { OrtError } from '@ortler/onnxruntime';
import { EngineError } from '../../errors.ts';

/** What `cause` is to callers of the engine; anything but an `OrtError` stays as it is. */
export function fromOrtError(cause: unknown): unknown {
  if (!(cause instanceof OrtError)) return cause;
  const code = cause.code === 'model_invalid' ? 'model_invalid' : 'engine_failed';
  return new EngineError(code, cause.message, { cause });
}
