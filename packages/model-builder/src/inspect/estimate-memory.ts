// How much memory a model takes in each precision that it can be built in: its weights, and the cache of one sequence.

import {
  CACHE_GROUP,
  cacheParts,
  cacheRowLength,
  defaultKvType,
  type GraphVariant,
  isGpuVariant,
  type KvType,
  type LayerCache,
  layerCaches,
  longestWindow,
  ownsCache,
  type Precision,
  REWIND_LENGTH,
  stateBytes,
  VARIANT_PRECISIONS,
  windowCapacity,
} from '@ortler/engine/graph-contract';
import { matrixBytes, type WeightFormat } from '@ortler/kernels';
import { TABLE_BITS } from '../blocks/embedding.ts';
import { VARIANTS } from '../blocks/variant.ts';
import { keptFormat } from '../gguf/gguf-tensor.ts';
import { chooseFormat, errorBudget } from '../kernels/choose-formats.ts';
import { FITTED } from '../kernels/common-format.ts';
import type { MatrixRole } from '../kernels/decoder-matrices.ts';
import { uniformFormat } from '../kernels/weight-formats.ts';
import {
  type DescribedTensor,
  elementsOf,
  isOfText,
  type ModelDescription,
  type ModelShape,
} from './model-description.ts';
import { normalSample } from './normal-sample.ts';

export interface MemoryEstimate {
  readonly precision: Precision;
  readonly kvType: KvType;
  readonly weightBytes: number;
  /** Only for a model with experts: the bytes that one token reads; the others may stay in their file. */
  readonly activeWeightBytes?: number;
  /** Cache of one sequence as long as the context, with the states of recurrent layers. */
  readonly cacheBytes: number;
}

export interface EstimateMemoryOptions {
  readonly variant: GraphVariant;
  /** Undefined: the default of each precision. */
  readonly kvType: KvType | undefined;
  /** Unit: tokens. */
  readonly contextLength: number;
}

const TYPE_BYTES: Readonly<Record<KvType, number>> = { float32: 4, float16: 2, int8: 1 };

/** Of q4 the formats of a build are estimated with normally distributed weights. Empty where the shape is not known. */
export function estimateMemory(
  { layout, shape, tensors, graphs, built, weightBytes, experts }: ModelDescription,
  { variant, kvType, contextLength }: EstimateMemoryOptions,
): readonly MemoryEstimate[] {
  if (shape === undefined) return [];
  if (built !== undefined) {
    const row = { ...shape, variant: built.variant, kvType: built.kvType };
    const cacheBytes = bytesOfCache(row, contextLength);
    const files = layout === 'built' ? [{ precision: built.precision, bytes: weightBytes }] : graphs;
    return files.map(({ precision, bytes }) => ({
      precision,
      kvType: built.kvType,
      weightBytes: bytes,
      ...activeBytes(experts, bytes, experts?.weightBytes ?? 0),
      cacheBytes,
    }));
  }
  const isQuantised =
    tensors.some(tensor => tensor.keptFormat !== undefined) ||
    (layout === 'gguf' && tensors.some(({ type, role }) => role !== 'vectors' && !/^B?F\d+$/.test(type)));
  return VARIANT_PRECISIONS[variant]
    .filter(precision => precision !== 'file' || isQuantised)
    .map(precision => {
      const type = kvType ?? defaultKvType(variant, precision);
      const bytesOf = (some: readonly DescribedTensor[]) =>
        sumOf(some, tensor => bytesOfTensor(tensor, { precision, variant, shape }));
      const weightBytes = bytesOf(tensors.filter(isOfText));
      return {
        precision,
        kvType: type,
        weightBytes,
        ...activeBytes(experts, weightBytes, bytesOf(tensors.filter(({ role }) => role === 'experts'))),
        cacheBytes: bytesOfCache({ ...shape, variant, kvType: type }, contextLength),
      };
    });
}

function activeBytes(experts: ModelDescription['experts'], all: number, ofExperts: number) {
  if (experts === undefined) return {};
  return { activeWeightBytes: all - Math.round(ofExperts * (1 - experts.chosen / experts.count)) };
}

interface BuiltAs {
  readonly precision: Precision;
  readonly variant: GraphVariant;
  readonly shape: ModelShape;
}

function bytesOfTensor(tensor: DescribedTensor, { precision, variant, shape }: BuiltAs): number {
  const count = elementsOf(tensor.shape);
  const floatBytes = isGpuVariant(variant) ? 2 : 4;
  if (tensor.role === 'vectors') return floatBytes * count;
  const [inputs, outputs] = [tensor.shape.at(-1)!, count / tensor.shape.at(-1)!];
  if (variant === 'kernels')
    return matrixBytes(kernelsFormat(tensor, precision, shape.hiddenSize), outputs, inputs);
  if (precision === 'f32' || precision === 'f16') return floatBytes * count;
  const { blockSize } = VARIANTS[variant];
  const bits = precision === 'q4' && !isTable(tensor) ? 4 : TABLE_BITS;
  return outputs * Math.ceil(inputs / blockSize) * ((blockSize * bits) / 8 + floatBytes);
}

function kernelsFormat(tensor: DescribedTensor, precision: Precision, hiddenSize: number): WeightFormat {
  const { keptFormat: kept } = tensor;
  const role = matrixRoleOf(tensor);
  if (role === 'router') return 'f32';
  if (precision === 'file' && kept !== undefined) return kept;
  // Codes that are as small are kept.
  if (precision === 'q4' && (kept === 'q4' || kept === 'q5')) return kept;
  if (precision === 'file') return keptFormat(tensor.type, tensor.shape.at(-1)!) ?? FITTED;
  if (precision === 'q4') return estimatedFormat(role, hiddenSize);
  return uniformFormat(precision, role);
}

const estimates = new Map<string, WeightFormat>();

/** The format that a build in q4 chooses for normally distributed weights. */
function estimatedFormat(role: MatrixRole, hiddenSize: number): WeightFormat {
  const budget = errorBudget(role, hiddenSize);
  const key = budget.toFixed(6);
  const found = estimates.get(key) ?? chooseFormat(normalSample(), budget);
  estimates.set(key, found);
  return found;
}

/** The role in the choice of formats, by the names of both kinds of checkpoints. */
function matrixRoleOf(tensor: DescribedTensor): MatrixRole {
  if (isTable(tensor)) return 'table';
  if (/k_proj|kv_[ab]_proj|attn_k(v_a_mqa|_b)?\b/.test(tensor.name)) return 'key';
  if (/v_proj|attn_v(_b)?\b/.test(tensor.name)) return 'value';
  if (/router|\.gate\.weight|gate_inp/.test(tensor.name)) return 'router';
  return /down|w2|output_linear/.test(tensor.name) ? 'down' : 'query';
}

function isTable({ role }: DescribedTensor): boolean {
  return role === 'embedding' || role === 'output';
}

function bytesOfCache(
  cache: ModelShape & { readonly variant: GraphVariant; readonly kvType: KvType },
  contextLength: number,
): number {
  const { variant, kvType } = cache;
  const longest = longestWindow(layerCaches(cache));
  const tokensOf = (layer: LayerCache): number => {
    if (variant !== 'kernels') return contextLength;
    if (!ownsCache(layer)) return 0;
    const { window } = layer;
    const whole = Math.ceil(contextLength / CACHE_GROUP) * CACHE_GROUP;
    // Chunks of prompts are shorter than that by default.
    const lengths = { contextLength, longestRow: 1, rewindLength: REWIND_LENGTH };
    return window === undefined ? whole : (windowCapacity(longest!, lengths) ?? whole);
  };
  const elementCount = sumOf(layerCaches(cache), layer => {
    const { kvHeadCount, headSize } = layer;
    const rowLength = cacheRowLength({ variant, kvType, headSize });
    return cacheParts(layer).length * kvHeadCount * rowLength * tokensOf(layer);
  });
  // A step reads the states of the tokens before it and writes others.
  return TYPE_BYTES[kvType] * elementCount + 2 * stateBytes(layerCaches(cache));
}

function sumOf<T>(items: readonly T[], sizeOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}
