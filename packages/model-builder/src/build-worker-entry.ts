// Main module of the build worker: builds a model where needed. Caller: `build-in-worker.ts`, which also imports the types of its
// messages.

import { parentPort, workerData } from 'node:worker_threads';
import type { BuildProgress } from './build-options.ts';
import { type EnsureModelOptions, ensureModel } from './ensure-model.ts';
import { ModelBuildError, type ModelBuildErrorCode, type ModelBuildErrorDetails } from './errors.ts';

/** The data of the worker. */
export type BuildTask = Omit<EnsureModelOptions, 'onProgress' | 'signal'>;

/** The messages of the worker; the last one is `built` or `failed`. */
export type BuildReport =
  | { readonly kind: 'progress'; readonly progress: BuildProgress }
  | { readonly kind: 'built'; readonly modelDir: string }
  | {
      readonly kind: 'failed';
      readonly code: ModelBuildErrorCode;
      readonly message: string;
      readonly details: Omit<ModelBuildErrorDetails, 'cause'>;
    };

const report = (message: BuildReport): void => parentPort?.postMessage(message);

try {
  const onProgress = (progress: BuildProgress) => report({ kind: 'progress', progress });
  report({ kind: 'built', modelDir: await ensureModel({ ...(workerData as BuildTask), onProgress }) });
} catch (error) {
  report(toFailure(error));
}

/** A ModelBuildError says what is wrong with the folder; anything else is a bug and keeps its stack. */
function toFailure(error: unknown): Extract<BuildReport, { readonly kind: 'failed' }> {
  if (!(error instanceof ModelBuildError)) {
    const message = String((error as Error).stack ?? error);
    return { kind: 'failed', code: 'build_failed', message, details: {} };
  }
  const { code, message, file, tensor, key } = error;
  return { kind: 'failed', code, message, details: { file, tensor, key } };
}
