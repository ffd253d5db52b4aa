// Builds a folder into a model folder as `ensureModel` does, in a worker thread, so that a build never blocks the caller's event
// loop; `auto` chooses the precision.

import { Worker } from 'node:worker_threads';
import type { GraphVariant, Precision } from '@ortler/engine/graph-contract';
import { entryModule } from '@ortler/worker';
import type { BuildProgress } from './build-options.ts';
import type { BuildReport, BuildTask } from './build-worker-entry.ts';
import { type AutoPrecision, explainPrecision } from './choose-precision.ts';
import { type EnsureModelOptions, findKnownModel } from './ensure-model.ts';
import { ModelBuildError } from './errors.ts';
import { markBuildUsed } from './prune-builds.ts';
import { settleVariant } from './settle-variant.ts';

export interface PrepareModelOptions extends Omit<EnsureModelOptions, 'precision' | 'variant'> {
  /** `auto`: the values of a quantised file, else as exact as the size of the checkpoint allows; see `explainPrecision`. */
  readonly precision: 'auto' | Precision;
  /** Of `chooseVariants`; a model gets the first that can compute it. Default: `kernels`. */
  readonly variants?: readonly [GraphVariant, ...GraphVariant[]] | undefined;
  /** Called before a build whose precision `auto` chose, with the reason; not where nothing is built. */
  readonly onPrecision?: ((choice: AutoPrecision) => void) | undefined;
}

/**
 * Path of the built model, after building it if needed. Mutates: the disk, inside `cacheDir`.
 * Throws: `ModelBuildError`, or the reason of `signal`.
 */
export async function prepareModel({
  sourceDir,
  adapterDir,
  cacheDir,
  precision,
  variants = ['kernels'],
  kvType,
  contextLength,
  modelDefaults,
  onPrecision,
  onProgress,
  signal,
}: PrepareModelOptions): Promise<string> {
  signal?.throwIfAborted();
  const { variant } = await settleVariant(sourceDir, variants, contextLength);
  const choice = await explainPrecision(precision, sourceDir, variant, adapterDir);
  const task: BuildTask = {
    sourceDir,
    adapterDir,
    cacheDir,
    variant,
    precision: choice.precision,
    kvType,
    contextLength,
    modelDefaults,
  };
  // Most starts find their model built, and need no thread.
  const known = await findKnownModel({ ...task, signal });
  if (known !== undefined) {
    await markBuildUsed(known, cacheDir, Date.now());
    return known;
  }
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { url, execArgv } = entryModule('./build-worker-entry', import.meta.url);
  const worker = new Worker(url, { workerData: task, execArgv: [...execArgv] });
  let isBuilding = false;
  const onProgressed = (progress: BuildProgress) => {
    const { precision: chosen, reason } = choice;
    if (progress.stage === 'weights' && !isBuilding) {
      isBuilding = true;
      if (reason !== undefined) onPrecision?.({ precision: chosen, reason });
    }
    onProgress?.(progress);
  };
  // An aborted build leaves only a temporary folder, which the next build removes.
  const stop = () => reject(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  // It may have fired while the headers were read.
  if (signal?.aborted) stop();
  worker.on('message', (report: BuildReport) => {
    // Under `node --watch` Node tells the imports of a thread by the same channel: messages of no kind.
    if (report.kind === 'progress') onProgressed(report.progress);
    else if (report.kind === 'built') resolve(report.modelDir);
    else if (report.kind === 'failed')
      reject(new ModelBuildError(report.code, report.message, report.details));
  });
  worker.once('error', cause =>
    reject(new ModelBuildError('build_failed', `The build failed: ${cause.message}`, { cause })),
  );
  worker.once('exit', code =>
    reject(new ModelBuildError('build_failed', `The build ended early with code ${code}.`)),
  );
  try {
    const modelDir = await promise;
    await markBuildUsed(modelDir, cacheDir, Date.now());
    return modelDir;
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
