// The manifest of a built model folder.

import type { LayerCache } from './layer-cache.ts';
import type { GraphVariant, InputConvention, KvType, Precision } from './variants.ts';

/** Content of `ortler-model.json`. */
export interface ModelManifest {
  readonly formatVersion: number;
  readonly variant: GraphVariant;
  readonly precision: Precision;
  /** `model_type` of the checkpoint's config.json. */
  readonly modelType: string;
  /** Graph file, relative to the manifest or absolute. */
  readonly graphFile: string;
  /**
   * Only for a `paged` graph: the graph for CUDA, beside `graphFile` and over the same weights, with norms of queries and keys inside
   * the attention. Absent: the same graph.
   */
  readonly cudaGraphFile?: string;
  /** Only for a `slots` graph. Absent: `lengths`. */
  readonly inputConvention?: InputConvention;
  readonly layerCount: number;
  readonly headCount: number;
  /** Of most layers. */
  readonly kvHeadCount: number;
  readonly headSize: number;
  /** Only where layers have caches of different kinds, in any variant but `paged`: one for each layer. */
  readonly layerCaches?: readonly LayerCache[];
  readonly hiddenSize: number;
  readonly vocabSize: number;
  /** Longest sequence (prompt and output) the rotary tables cover. Unit: tokens. */
  readonly contextLength: number;
  /** One of `VARIANT_KV_TYPES`, or float32 or float16 in an export of another program. */
  readonly kvType: KvType;
  /** Element type of the logits of an export of another program. Absent: float32. */
  readonly logitsType?: 'float32' | 'float16';
  readonly parameterCount: number;
  /** Only for a graph with mixtures of experts. */
  readonly experts?: ExpertFacts;
  /** SHA-256 over the checkpoint's content, format version, variant, precision and type of cache: the build cache key. */
  readonly contentHash: string;
}

/** Mixtures of experts, of all layers that have one. */
export interface ExpertFacts {
  /** Experts of a layer, and those of each token. */
  readonly count: number;
  readonly chosen: number;
  /** Bytes of the weights named `EXPERT_WEIGHTS`. */
  readonly weightBytes: number;
  /** Parameters that a token is computed with: all but those of the experts that it does not choose. */
  readonly activeParameterCount: number;
}

/** The cache of each layer. */
export function layerCaches({
  layerCaches: own,
  layerCount,
  kvHeadCount,
  headSize,
}: Pick<ModelManifest, 'layerCount' | 'kvHeadCount' | 'headSize'> & {
  readonly layerCaches?: readonly LayerCache[] | undefined;
}): readonly LayerCache[] {
  return own ?? Array.from({ length: layerCount }, () => ({ kvHeadCount, headSize }));
}
