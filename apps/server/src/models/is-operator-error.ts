// Which failures of fetching, building and loading a model say by themselves what the operator can fix. Callers: log and commands.

import { EngineError } from '@ortler/engine';
import { HubError } from '@ortler/hub';
import { ModelBuildError } from '@ortler/model-builder';
import { OrtError } from '@ortler/onnxruntime';

/** Whether the message of the error is enough; any other error is a bug and needs its stack. */
export function isOperatorError(
  error: unknown,
): error is HubError | ModelBuildError | EngineError | OrtError {
  return [HubError, ModelBuildError, EngineError, OrtError].some(kind => error instanceof kind);
}
