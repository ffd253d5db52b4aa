// Variants of a graph, with the precisions and caches that each may have.

/**
 * Quantisation of the weights of the large matrix products. `file`: each matrix as the file has it, as far as the operators of
 * the variant have its format.
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
