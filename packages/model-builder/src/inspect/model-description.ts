// What is known of a model from its configuration and the headers of its files, without reading a weight.

import type { GraphVariant, KvType, LayerCache, Precision } from '@ortler/engine/graph-contract';
import type { WeightFormat } from '@ortler/kernels';
import type { CudaNorms } from '../architectures/cuda-norms.ts';
import type { LongRopeChoice } from '../hugging-face/long-rope.ts';

/**
 * Kinds of tensors, by what they do in a decoder. `vectors`: norms, biases and other tensors of one dimension; `images`: those of
 * encoders of images and sound, which a build leaves out.
 */
export type TensorRole =
  | 'embedding'
  | 'output'
  | 'attention'
  | 'mlp'
  | 'experts'
  | 'vectors'
  | 'images'
  | 'other';

/** A tensor of a header. */
export interface DescribedTensor {
  readonly name: string;
  readonly role: TensorRole;
  /** Name of the type in the file: `BF16`, `Q4_K`. */
  readonly type: string;
  /** As in a checkpoint: `[outputs, inputs]` of a matrix, with the experts in front where they are stacked. */
  readonly shape: readonly number[];
  readonly bytes: number;
  /** Only for a quantised folder: the format in a build that keeps values. */
  readonly keptFormat?: WeightFormat;
}

/** The tensors of one role in one type, together. */
export interface FormatUse {
  /** A `TensorRole`; of a built folder the role of a matrix in its manifest. */
  readonly role: string;
  readonly type: string;
  readonly tensorCount: number;
  /** Undefined in a built folder. */
  readonly elementCount: number | undefined;
  readonly bytes: number | undefined;
}

/** Sizes of the decoder that decide its cache. */
export interface ModelShape {
  readonly layerCount: number;
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  readonly hiddenSize: number;
  readonly vocabSize: number;
  /** Cache of each layer, as in a `kernels` graph. Undefined: all alike. */
  readonly layerCaches: readonly LayerCache[] | undefined;
}

/** Mixtures of experts. */
export interface DescribedExperts {
  readonly count: number;
  /** Experts of a token. */
  readonly chosen: number;
  /** Parameters that a token is computed with. */
  readonly activeParameterCount: number;
  /** Bytes of all experts; undefined for a checkpoint. */
  readonly weightBytes?: number;
}

/** A graph that another program exported. */
export interface DescribedGraph {
  readonly precision: Precision;
  /** Relative to the folder. */
  readonly file: string;
  /** With its data files. */
  readonly bytes: number;
}

export type ModelLayout = 'safetensors' | 'gguf' | 'optimum' | 'genai' | 'built';

export interface ModelDescription {
  readonly layout: ModelLayout;
  /** `model_type` of config.json, or `general.architecture` of a GGUF file. Undefined where no file names it. */
  readonly architecture: string | undefined;
  /** Undefined for an architecture that is not built, and for a graph whose inputs were not read. */
  readonly shape: ModelShape | undefined;
  /** Longest context. Unit: tokens. Undefined with `shape`. */
  readonly contextLength: number | undefined;
  /**
   * Choice of the build, or of the build that the model would have without a `contextLength`; undefined
   * without LongRoPE.
   */
  readonly longRope: LongRopeChoice | undefined;
  /** Elements of all weights without `images`; undefined where a graph was not read. */
  readonly parameterCount: number | undefined;
  /** Undefined for a model without experts. */
  readonly experts?: DescribedExperts | undefined;
  /** Bytes of the weights as they are on the disk. */
  readonly weightBytes: number;
  /** Empty for graphs. */
  readonly formats: readonly FormatUse[];
  /** Of `formats`, one by one. */
  readonly tensors: readonly DescribedTensor[];
  /** Exported graphs for this device. */
  readonly graphs: readonly DescribedGraph[];
  /** Only for a built folder, and for an export whose graph was read. */
  readonly built:
    | { readonly precision: Precision; readonly kvType: KvType; readonly variant: GraphVariant }
    | undefined;
  /**
   * Norms of queries and keys in a graph with PagedAttention. Undefined: there are none, no such graph, or, of a built folder, norms
   * apart.
   */
  readonly cudaNorms: CudaNorms | undefined;
  /** Why it cannot be built or run here; undefined where the headers show no reason. */
  readonly fault: string | undefined;
}

const ROLES: readonly (readonly [RegExp, TensorRole])[] = [
  [/embed_tokens|token_embd|^(backbone|model)\.embeddings\.|\bwte\b|word_embeddings/, 'embedding'],
  [/lm_head|^output\.weight$|embed_out/, 'output'],
  [/(?<!shared_)experts|_exps\b|moe\.(in|out)put_linear/, 'experts'],
  [/attn|attention|\bmamba\b|\bmixer\.(?!up|down|gate|shared_experts)/, 'attention'],
  [/mlp|ffn|feed_forward|\bmixer\./, 'mlp'],
];

const IMAGES = /(^|\.)(vision|visual|multi_modal|mm_|audio)/;

/** Whether a build has the tensor. */
export function isOfText({ role }: DescribedTensor): boolean {
  return role !== 'images';
}

/** By the names of Hugging Face checkpoints and of GGUF files. */
export function roleOf(name: string, shape: readonly number[]): TensorRole {
  if (IMAGES.test(name)) return 'images';
  if (shape.length < 2) return 'vectors';
  return ROLES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}

/** Sums by role and type, in the order of the roles in a decoder. */
export function countFormatUse(tensors: readonly DescribedTensor[]): readonly FormatUse[] {
  const uses = new Map<string, FormatUse & { readonly elementCount: number; readonly bytes: number }>();
  for (const { role, type, shape, bytes } of tensors) {
    const key = `${ORDER.indexOf(role)} ${type}`;
    const use = uses.get(key) ?? { tensorCount: 0, elementCount: 0, bytes: 0 };
    uses.set(key, {
      role,
      type,
      tensorCount: use.tensorCount + 1,
      elementCount: use.elementCount + elementsOf(shape),
      bytes: use.bytes + bytes,
    });
  }
  return [...uses].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, use]) => use);
}

const ORDER: readonly TensorRole[] = [
  'embedding',
  'output',
  'attention',
  'mlp',
  'experts',
  'vectors',
  'images',
  'other',
];

export function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
