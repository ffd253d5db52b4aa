// Main module of the build worker: builds a model where needed, off the thread that serves requests. Caller:
// `prepare-model.ts`, which also imports the types of its messages.

import { parentPort, workerData } from 'node:worker_threads';
import type { GraphVariant, KvType, Precision } from '@ortler/engine/graph-contract';
import { type BuildProgress, ensureModel, ModelBuildError } from '@ortler/model-builder';

/** The data of the worker. */
export interface BuildOrder {
  readonly sourceDir: string;
  /** Folder of a LoRA adapter to merge into the weights. */
  readonly adapterDir?: string | undefined;
  readonly cacheDir: string;
  readonly variant: GraphVariant;
  readonly precision: Precision;
  readonly kvType: KvType | undefined;
}

/** The messages of the worker; the last one is `built` or `failed`. */
export type BuildReport =
  | { readonly kind: 'progress'; readonly progress: BuildProgress }
  | { readonly kind: 'built'; readonly modelDir: string }
  | { readonly kind: 'failed'; readonly message: string };

const report = (message: BuildReport): void => parentPort?.postMessage(message);

try {
  const onProgress = (progress: BuildProgress) => report({ kind: 'progress', progress });
  report({ kind: 'built', modelDir: await ensureModel({ ...(workerData as BuildOrder), onProgress }) });
} catch (error) {
  // A ModelBuildError says what is wrong with the folder; anything else is a bug and keeps its stack.
  const message = error instanceof ModelBuildError ? error.message : String((error as Error).stack ?? error);
  report({ kind: 'failed', message });
}
