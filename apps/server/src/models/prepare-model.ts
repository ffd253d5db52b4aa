// Builds a configured folder into a model folder, in a worker thread, so that a build never blocks the event loop.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { KvType, Precision } from '@ortler/engine/graph-contract';
import type { BuildProgress } from '@ortler/model-builder';
import type { DeviceChoice } from '@ortler/onnxruntime';
import { entryModule } from '@ortler/worker';
import { DEMO_MODEL_DIR } from '../config/settings/model-settings.ts';
import type { BuildOrder, BuildReport } from './build-worker.ts';
import { choosePrecision } from './choose-precision.ts';

/** A folder that cannot be built; the message gives the reason to the operator. */
export class ModelPreparationError extends Error {
  override readonly name = 'ModelPreparationError';
}

export interface PrepareModelOptions {
  readonly sourceDir: string;
  /** Folder of a LoRA adapter to merge into the weights. */
  readonly adapterDir?: string | undefined;
  /** Built models are cached in `models` below this folder. */
  readonly dataDir: string;
  readonly precision: 'auto' | Precision;
  /** KV cache type. Default: that of an existing build, else the device's default. */
  readonly kvType?: KvType | undefined;
  /** Device that the model will run on. */
  readonly device: DeviceChoice['device'];
  readonly onProgress?: (progress: BuildProgress) => void;
  readonly signal?: AbortSignal;
}

/** Returns the folder of the built model, after building it if needed. Throws: `ModelPreparationError`. */
export async function prepareModel({
  sourceDir,
  adapterDir,
  dataDir,
  precision,
  kvType,
  device,
  onProgress,
  signal,
}: PrepareModelOptions): Promise<string> {
  signal?.throwIfAborted();
  if (sourceDir === DEMO_MODEL_DIR && !existsSync(sourceDir))
    throw new ModelPreparationError(
      'the demo model comes with the repository, not with this package. Name a model: --models my-model=/path/to/folder',
    );
  const variant = device === 'cpu' ? 'slots' : 'paged';
  const order: BuildOrder = {
    sourceDir,
    adapterDir,
    cacheDir: join(dataDir, 'models'),
    variant,
    precision: await choosePrecision(precision, sourceDir, variant),
    kvType,
  };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { url, execArgv } = entryModule('./build-worker', import.meta.url);
  const worker = new Worker(url, { workerData: order, execArgv: [...execArgv] });
  // An aborted build leaves only a temporary folder, which the next build removes.
  const stop = () => reject(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  worker.on('message', (report: BuildReport) => {
    if (report.kind === 'progress') onProgress?.(report.progress);
    else if (report.kind === 'built') resolve(report.modelDir);
    else reject(new ModelPreparationError(report.message));
  });
  worker.once('error', error =>
    reject(new ModelPreparationError(`The build failed: ${error.message}`, { cause: error })),
  );
  worker.once('exit', code => reject(new ModelPreparationError(`The build ended early with code ${code}.`)));
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
