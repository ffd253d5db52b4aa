// What the build worker is given and what it reports.

import type { BuildProgress } from '@ortler/model-builder';

export interface BuildOrder {
  readonly sourceDir: string;
  /** Folder of a LoRA adapter to merge into the weights. */
  readonly adapterDir?: string | undefined;
  readonly cacheDir: string;
  readonly precision: 'f32' | 'q8' | 'q4';
}

export type BuildReport =
  | { readonly kind: 'progress'; readonly progress: BuildProgress }
  | { readonly kind: 'built'; readonly modelDir: string }
  | { readonly kind: 'failed'; readonly message: string };
