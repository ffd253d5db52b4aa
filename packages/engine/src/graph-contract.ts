// The contract of an ONNX model folder between model-builder, which writes it, and the engine's runners: file names,
// input and output names, shapes, and the manifest. The two share only this file.

/** File beside the graph that describes it; see `ModelManifest`. */
export const MANIFEST_FILE = 'ortler-model.json';

/** Names of rotary tables begin so. Shape: `[contextLength, size / 2]`; a step reads the rows of its positions only. */
export const ROTARY_TABLES = 'model.rotary';

/** Names of the matrices of experts begin so, in `kernels` graphs. A step reads those of the experts that its tokens choose. */
export const EXPERT_WEIGHTS = 'model.experts';

/** File of a built graph's weights, beside it; a path where the graph's is one. */
export function weightsFileName(graphFile: string): string {
  return `${graphFile}.data`;
}

/** Raised when graphs of older builds would run wrongly; part of the build cache key. */
export const GRAPH_FORMAT_VERSION = 2;

/** Files of the checkpoint that are copied beside the graph so that the built folder stands alone. */
export const COMPANION_FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'chat_template.json',
] as const;

/** Folder of the checkpoint with further chat templates, `NAME.jinja`; copied with the companion files. */
export const CHAT_TEMPLATE_FOLDER = 'additional_chat_templates';

/**
 * Quantisation of the weights of the large matrix products. `file`: each matrix as the file has it, as far as
 * the operators of the variant have its format.
 */
export const PRECISIONS = ['f32', 'f16', 'q8', 'q4', 'file'] as const;
export type Precision = (typeof PRECISIONS)[number];

/**
 * Which operators the graph has. `kernels`: the operators of `packages/kernels` over a contiguous cache, for CPUs that they
 * support. `slots`: ONNX Runtime's own operators over the same kind of cache, for other CPUs, and for exports of other programs.
 * `paged`: PagedAttention over a pool of blocks on a GPU. `device-slots`: GroupQueryAttention over a cache of each sequence on a GPU, for
 * models that PagedAttention cannot compute.
 */
export type GraphVariant = 'kernels' | 'slots' | 'paged' | 'device-slots';

/** Precisions of each variant: activations and weights that are not quantised have the type of its first cache type. */
export const VARIANT_PRECISIONS = {
  kernels: ['f32', 'q8', 'q4', 'file'],
  slots: ['f32', 'q8', 'q4', 'file'],
  paged: ['f16', 'q8', 'q4'],
  'device-slots': ['f16', 'q8', 'q4'],
} as const satisfies Readonly<Record<GraphVariant, readonly Precision[]>>;

/** Element type of the KV cache. `int8`: codes with a scale for each token and head. */
export const KV_TYPES = ['float32', 'float16', 'int8'] as const;
export type KvType = (typeof KV_TYPES)[number];

/** Types of each variant's cache. */
export const VARIANT_KV_TYPES = {
  kernels: KV_TYPES,
  slots: ['float32'],
  paged: ['float16'],
  'device-slots': ['float16', 'int8'],
} as const satisfies Readonly<Record<GraphVariant, readonly KvType[]>>;

/**
 * The cache that is built unless asked otherwise. With quantised weights float16 costs nothing that can be measured and takes half
 * the memory traffic of float32; builds in float32 stay exact.
 */
export function defaultKvType(variant: GraphVariant, precision: Precision): KvType {
  if (variant === 'kernels') return precision === 'f32' ? 'float32' : 'float16';
  return VARIANT_KV_TYPES[variant][0];
}

/** Variants for GPUs, with activations in float16. */
export type GpuVariant = 'paged' | 'device-slots';

export function isGpuVariant(variant: GraphVariant): variant is GpuVariant {
  return variant === 'paged' || variant === 'device-slots';
}

/** What `chooseVariants` decides by. */
export interface VariantDevice {
  readonly device: string;
  /** Whether a model that the device cannot compute runs on the CPU. */
  readonly isOptional: boolean;
}

/**
 * The variants to build for a device, the best first: a model gets the first one that can compute it. On the CPU it depends on whether
 * there are kernels for it.
 */
export function chooseVariants(
  { device, isOptional }: VariantDevice,
  kernels: { readonly isa: string } | { readonly missing: string },
): readonly [GraphVariant, ...GraphVariant[]] {
  const onCpu = 'isa' in kernels ? 'kernels' : 'slots';
  if (device === 'cpu') return [onCpu];
  return ['paged', 'device-slots', ...(isOptional ? ([onCpu] as const) : [])];
}

/** Float types of exports of other programs; see `InputConvention`. */
export const EXPORT_PRECISIONS = ['f32', 'f16', 'q8', 'q4'] as const satisfies readonly Precision[];

/**
 * The inputs that give a `slots` graph the positions of its tokens: `lengths` in our own graphs, see `SLOTS_INPUT`; `mask` in
 * exports of other programs, see `MASK_INPUT`.
 */
export type InputConvention = 'lengths' | 'mask';

/** The cache of a layer. */
export interface LayerCache {
  readonly kvHeadCount: number;
  readonly headSize: number;
  /**
   * Tokens that the layer attends to, itself included, in a `kernels` graph: its cache may be a ring of `windowCapacity`. Absent: all
   * tokens. Unit: tokens.
   */
  readonly window?: number | undefined;
  /** Layer whose cache this one of a `kernels` graph attends to: it has no inputs and outputs for a cache of its own. */
  readonly kvSource?: number | undefined;
  /**
   * Only for a recurrent layer of a `kernels` graph: the shapes of its states, in float32, in place of keys
   * and values. It has no inputs and outputs for a cache. Empty: the layer keeps nothing.
   */
  readonly states?: readonly (readonly number[])[] | undefined;
  /** The layer has keys and values besides its states. Default: false. */
  readonly hasKeys?: boolean | undefined;
  /**
   * The keys of this layer of a `kernels` graph are its values too, so it has no cache of values. Default:
   * false.
   */
  readonly keysOnly?: boolean | undefined;
}

/** Whether the layer has a cache of its own. */
export function ownsCache({ kvSource, states, hasKeys = false }: LayerCache): boolean {
  return kvSource === undefined && (states === undefined || hasKeys);
}

/** Bytes of the states of one sequence; 0 for a model without recurrent layers. */
export function stateBytes(layers: readonly LayerCache[]): number {
  const shapes = layers.flatMap(({ states = [] }) => states);
  return shapes.reduce((sum, shape) => sum + 4 * shape.reduce((product, dim) => product * dim, 1), 0);
}

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
   * Only for a `paged` graph: the graph for CUDA, beside `graphFile` and over the same weights, with norms of
   * queries and keys inside the attention. Absent: the same graph.
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

/**
 * Inputs of a `kernels`, `slots` or `device-slots` graph.
 *
 * - `inputIds` int64 `[batch, length]`
 * - `lastPositions` int32 `[batch]`: for each row, the number of tokens after this call minus one
 *   (GroupQueryAttention's `seqlens_k`); rotary positions and the causal limit follow from it.
 * - `totalLength` int32 `[]` scalar, not of `kernels` graphs: the largest number of tokens after this call over the rows.
 * - `logitRows` int64 `[rowCount]`: which rows of the flattened `[batch * length]` positions get logits; at least one.
 * - past keys and values, see `pastName`.
 *
 * - `stateReads` int32 `[batch]`, only of recurrent models: the entry of the pools with the state before each row; -1: the row is the
 *   first of its sequence.
 * - `stateWrites` int32 `[batch, length]`, likewise: the entry that keeps the state after each token; -1: none. No entry is read and
 *   written by one call, or written twice.
 * - pools of states, see `pastStateName`.
 *
 * A call with `length > 1` has `batch == 1` (GroupQueryAttention with a past takes whole chunks of one row only), and so has each
 * call of a `device-slots` graph.
 */
export const SLOTS_INPUT = {
  inputIds: 'input_ids',
  lastPositions: 'seqlens_k',
  totalLength: 'total_sequence_length',
  logitRows: 'logit_rows',
  stateReads: 'state_reads',
  stateWrites: 'state_writes',
} as const;

/**
 * Inputs of a `slots` graph that another program exported: Optimum, transformers.js or onnxruntime-genai.
 *
 * - `inputIds` int64 `[batch, length]`
 * - `attentionMask` int64 `[batch, total]`: 1 for each token that a row has after this call, 0 after them. `total` is at
 *   least the tokens of the longest row and at most the capacity of the cache.
 * - `positionIds` int64 `[batch, length]`, only of some graphs: places of the tokens in their sequences.
 * - past keys and values, see `pastName`.
 *
 * Outputs: `logits` `[batch, length, vocabSize]`, and the caches of `presentName`, which GroupQueryAttention updates in
 * place. Both are float32 or float16; in float16 they are for devices. As above, a call with `length > 1` has `batch == 1`.
 */
export const MASK_INPUT = {
  inputIds: 'input_ids',
  attentionMask: 'attention_mask',
  positionIds: 'position_ids',
} as const;

/**
 * A cache of a `kernels` graph has room for whole groups of tokens, because those of a group are side by
 * side. Unit: tokens.
 */
export const CACHE_GROUP = 16;

/** Bytes of the float32 scale of a token and head in an int8 cache. */
const SCALE_BYTES = 4;

/**
 * Elements that one token and head take in a cache: in `kernels` graphs the head size rounded up to whole vectors, and in int8 the
 * four bytes of a scale.
 */
export function cacheRowLength({
  variant,
  kvType,
  headSize,
}: Pick<ModelManifest, 'variant' | 'kvType' | 'headSize'>): number {
  const length = variant === 'kernels' ? Math.ceil(headSize / CACHE_GROUP) * CACHE_GROUP : headSize;
  return length + (kvType === 'int8' ? SCALE_BYTES : 0);
}

/**
 * How the cache of a graph on a device is declared: type, and length of a row. WebGPU's provider keeps an int8 cache in tensors of the
 * activations' type, two bytes in each element, and wants whole words of four bytes.
 */
export function deviceCacheRow({ kvType, headSize }: Pick<ModelManifest, 'kvType' | 'headSize'>): {
  readonly type: 'float32' | 'float16';
  readonly length: number;
} {
  if (kvType !== 'int8') return { type: kvType, length: headSize };
  return { type: 'float16', length: cacheRowLength({ variant: 'device-slots', kvType, headSize }) / 2 };
}

/**
 * A cache of a `kernels` graph that is shorter than the sequence is a ring of whole pieces of keys. Source: `PIECE` of
 * `packages/kernels/c/attention.h`. Unit: tokens.
 */
const CACHE_PIECE = 256;

/**
 * How many tokens before the end of a cached prompt another one may depart from it, with window-sized caches,
 * before pieces are needed that were saved when they were overwritten. Unit: tokens.
 */
export const REWIND_LENGTH = 1024;

/** What decides the length of caches. Unit: tokens. */
export interface CacheLengths {
  readonly contextLength: number;
  /** Maximum number of tokens in a sequence in one call. */
  readonly longestRow: number;
  readonly rewindLength: number;
}

/**
 * Tokens of the ring of a layer with a window; undefined where that is no shorter than the context. A ring of `window - 1 + n` tokens
 * holds what a token attends to when the newest `n` tokens are dropped or not yet computed.
 */
export function windowCapacity(
  window: number,
  { contextLength, longestRow, rewindLength }: CacheLengths,
): number | undefined {
  const length = window - 1 + Math.max(longestRow, rewindLength);
  const capacity = Math.ceil(length / CACHE_PIECE) * CACHE_PIECE;
  return capacity < contextLength ? capacity : undefined;
}

/** The longest window, which the rings of all layers with one are made for; undefined without windows. */
export function longestWindow(layers: readonly LayerCache[]): number | undefined {
  const windows = layers.flatMap(({ window, kvSource }) => (kvSource === undefined ? (window ?? []) : []));
  return windows.length === 0 ? undefined : Math.max(...windows);
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

/** Outputs of a `slots` graph: `logits` float32 `[rowCount, vocabSize]`, and the caches of `presentName`. */
export const SLOTS_OUTPUT = { logits: 'logits' } as const;

/**
 * Inputs of a `paged` graph. The tokens of all sequences of a step are one after the other, whether a
 * sequence has a chunk of its prompt or one token.
 *
 * - `inputIds` int64 `[tokenCount]`
 * - `blockTable` int32 `[batch, blocksPerSequence]`: blocks of each sequence in the order of its tokens; what
 * comes after
 *   its last token is not read.
 * - `cumulativeLengths` int32 `[batch + 1]`: where each sequence begins in `inputIds`, and their sum.
 * - `pastLengths` int32 `[batch]`: tokens of each sequence that are in the cache already.
 * - `bounds` int32 `[3]`, in the process's memory: the most tokens that a sequence has in this call, the most it has
 *   after it, and a number that the longest sequence after it has at least. The first two may be too large, the third too
 *   small; 0 is unknown. With them, nothing is read back from the device to plan the attention.
 * - `logitRows` int64 `[rowCount]`: which of the `tokenCount` positions get logits.
 * - past keys and values, see `pastName`, of shape `[blockCount, blockLength, kvHeadCount, headSize]`.
 *
 * `blockLength` is a power of two, at least `MIN_BLOCK_LENGTH`. No sequence is longer than the model's `contextLength`,
 * and neither is the second of the bounds.
 *
 * Outputs: `logits` float32 `[rowCount, vocabSize]`, and the caches of `presentName`, which are the same memory
 * as the past ones.
 * Source: the names are those of onnxruntime-genai's exports.
 */
export const PAGED_INPUT = {
  inputIds: 'input_ids',
  blockTable: 'block_table',
  cumulativeLengths: 'cumulative_sequence_lengths',
  pastLengths: 'past_sequence_lengths',
  bounds: 'attention_metadata',
  logitRows: 'logit_rows',
} as const;

/**
 * ONNX Runtime 1.30 takes blocks of 16 tokens on WebGPU too, but its kernel for prompts reads 32 keys of a block at a time.
 * With shorter blocks it takes another path, slower and wrong where subgroups have 8 lanes. Unit: tokens.
 */
export const MIN_BLOCK_LENGTH = 32;

export type KvPart = 'key' | 'value';

export const KV_PARTS: readonly KvPart[] = ['key', 'value'];

/** The caches of a layer that owns some. */
export function cacheParts({ keysOnly = false }: Pick<LayerCache, 'keysOnly'>): readonly KvPart[] {
  return keysOnly ? ['key'] : KV_PARTS;
}

/**
 * Cache input of a layer; pass the same memory as the output. Shape: `[batch, kvHeadCount, capacity, cacheRowLength]`, in a
 * `device-slots` graph with rows of `deviceCacheRow`; in a `paged` graph see `PAGED_INPUT`. Capacities of layers may differ: see
 * `LayerCache`.
 */
export function pastName(layer: number, part: KvPart): string {
  return `past_key_values.${layer}.${part}`;
}

/** Cache output of a layer. Same shape and, for an in-place update, same memory as the input. */
export function presentName(layer: number, part: KvPart): string {
  return `present.${layer}.${part}`;
}

/** Pool of a layer's states. Shape: `[entries, ...shape]`, see `LayerCache.states`; pass the same memory as the output. */
export function pastStateName(layer: number, index: number): string {
  return `past_states.${layer}.${index}`;
}

/** The pool again, in the same memory. */
export function presentStateName(layer: number, index: number): string {
  return `present_states.${layer}.${index}`;
}
