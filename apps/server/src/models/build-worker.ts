// Main module of the build worker: makes sure that a model is built, away from the thread that serves requests.

import { parentPort, workerData } from 'node:worker_threads';
import { ensureModel, ModelBuildError } from '@ortler/model-builder';
import type { BuildOrder, BuildReport } from './build-messages.ts';

const report = (message: BuildReport): void => parentPort?.postMessage(message);

try {
  const onProgress = (progress: Extract<BuildReport, { kind: 'progress' }>['progress']) =>
    report({ kind: 'progress', progress });
  report({ kind: 'built', modelDir: await ensureModel({ ...(workerData as BuildOrder), onProgress }) });
} catch (error) {
  // A refusal of the builder says what is wrong; anything else is a fault of ours and keeps its stack.
  const message = error instanceof ModelBuildError ? error.message : String((error as Error).stack ?? error);
  report({ kind: 'failed', message });
}
