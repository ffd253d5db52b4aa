// Builds a folder into a model folder as `ensureModel` does, in a worker thread; `auto` chooses the precision.

import type { GraphVariant, Precision } from '@ortler/engine/graph-contract';
import { buildInWorker } from './build-in-worker.ts';
import type { BuildProgress } from './build-options.ts';
import type { BuildTask } from './build-worker-entry.ts';
import { type AutoPrecision, explainPrecision } from './choose-precision.ts';
import { type EnsureModelOptions, findKnownModel } from './ensure-model.ts';
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
  let isBuilding = false;
  const onProgressed = (progress: BuildProgress) => {
    const { precision: chosen, reason } = choice;
    if (progress.stage === 'weights' && !isBuilding) {
      isBuilding = true;
      if (reason !== undefined) onPrecision?.({ precision: chosen, reason });
    }
    onProgress?.(progress);
  };
  const modelDir = await buildInWorker(task, { onProgress: onProgressed, signal });
  await markBuildUsed(modelDir, cacheDir, Date.now());
  return modelDir;
}
