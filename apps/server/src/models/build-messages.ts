// What the build worker is given and what it reports.

import type { GraphVariant, KvType, Precision } from '@ortler/engine/graph-contract';
import type { BuildProgress } from '@ortler/model-builder';

export interface BuildOrder {
  readonly sourceDir: string;
  /** Folder of a LoRA adapter to merge into the weights. */
  readonly adapterDir?: string | undefined;
  readonly cacheDir: string;
  readonly variant: GraphVariant;
  readonly precision: Precision;
  readonly kvType: KvType | undefined;
}

export type BuildReport =
  | { readonly kind: 'progress'; readonly progress: BuildProgress }
  | { readonly kind: 'built'; readonly modelDir: string }
  | { readonly kind: 'failed'; readonly message: string };
