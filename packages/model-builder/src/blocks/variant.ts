// The graph variants of ONNX Runtime's operators, `slots` (CPU), `paged` and `device-slots` (GPU): inputs, attention operator and type
// of activations. The rest of a decoder is the same in all.

import {
  deviceCacheRow,
  type GraphVariant,
  type KvType,
  PAGED_INPUT,
  SLOTS_INPUT,
} from '@ortler/engine/graph-contract';
import type { ValueInfo } from '@ortler/onnx';
import type { LayerConfig } from '../hugging-face/decoder-config.ts';
import type { BlockSize } from '../weights/quantise.ts';

/** Names of the graph's dimensions that are known only at run time. */
export const DYNAMIC_DIMS = {
  batch: 'batch',
  length: 'length',
  capacity: 'capacity',
  rows: 'row_count',
  tokens: 'token_count',
  blocks: 'block_count',
  blockLength: 'block_length',
  blocksPerSequence: 'blocks_per_sequence',
  boundaries: 'batch_plus_one',
  states: 'state_count',
} as const;

/** Inputs that all variants have under the same names. */
export const SHARED_INPUT = {
  inputIds: PAGED_INPUT.inputIds,
  logitRows: PAGED_INPUT.logitRows,
} as const satisfies Partial<typeof SLOTS_INPUT>;

type Dims = readonly (number | string)[];

/** Variants with ONNX Runtime's own operators. */
export type OrtVariant = Exclude<GraphVariant, 'kernels'>;

export interface Variant {
  readonly name: OrtVariant;
  /** Type of activations, of weights that are not quantised, and of a float KV cache. */
  readonly activation: 'float32' | 'float16';
  /** Activations in products with quantised weights: quantised to int8, or kept as floats. */
  readonly quantisedInputs: 'rounded to 8 bits' | 'as given';
  /** Block size of quantised weights, and of activations that are quantised for a product with them. */
  readonly blockSize: BlockSize;
  /** Whether 4-bit codes without zero points are faster. */
  readonly prefersSymmetric: boolean;
  /** Number of position dimensions of a value, before the last dimension. */
  readonly positionRank: 1 | 2;
  /** Whether the attention takes values with a dimension for the sequence, of one sequence, that others here do not have. */
  readonly splitsSequence: boolean;
  /** Inputs besides the caches and `logit_rows`. */
  readonly inputs: readonly ValueInfo[];
  readonly attentionOperator: 'GroupQueryAttention' | 'PagedAttention';
  /** Its inputs between the caches and the rotary tables. */
  readonly attentionInputs: readonly string[];
  /** Its inputs after the rotary tables. */
  readonly lateAttentionInputs: readonly string[];
  cacheDims(layer: Pick<LayerConfig, 'kvHeadCount' | 'headSize'>, kvType: KvType): Dims;
  /** Largest head size with fast and correct kernels. */
  readonly largestHeadSize: number;
}

/** Name of the constant attention sinks: see `attention.ts`. */
export const NO_SINKS = 'model.attention.no_sinks';

/** Length of the input `bounds`. */
const BOUND_COUNT = 3;

const { batch, length, capacity, tokens, blocks, blockLength, blocksPerSequence, boundaries } = DYNAMIC_DIMS;

const slots: Variant = {
  name: 'slots',
  activation: 'float32',
  quantisedInputs: 'rounded to 8 bits',
  blockSize: 32,
  prefersSymmetric: false,
  positionRank: 2,
  splitsSequence: false,
  inputs: [
    { name: SLOTS_INPUT.inputIds, type: 'int64', dims: [batch, length] },
    { name: SLOTS_INPUT.lastPositions, type: 'int32', dims: [batch] },
    { name: SLOTS_INPUT.totalLength, type: 'int32', dims: [] },
  ],
  attentionOperator: 'GroupQueryAttention',
  attentionInputs: [SLOTS_INPUT.lastPositions, SLOTS_INPUT.totalLength],
  // Position ids and an attention bias, which are not used.
  lateAttentionInputs: ['', '', NO_SINKS],
  cacheDims: ({ kvHeadCount, headSize }) => [batch, kvHeadCount, capacity, headSize],
  largestHeadSize: Number.POSITIVE_INFINITY,
};

const paged: Variant = {
  name: 'paged',
  activation: 'float16',
  quantisedInputs: 'as given',
  blockSize: 32,
  prefersSymmetric: true,
  positionRank: 1,
  splitsSequence: false,
  inputs: [
    { name: PAGED_INPUT.inputIds, type: 'int64', dims: [tokens] },
    { name: PAGED_INPUT.blockTable, type: 'int32', dims: [batch, blocksPerSequence] },
    { name: PAGED_INPUT.cumulativeLengths, type: 'int32', dims: [boundaries] },
    { name: PAGED_INPUT.pastLengths, type: 'int32', dims: [batch] },
    { name: PAGED_INPUT.bounds, type: 'int32', dims: [BOUND_COUNT] },
  ],
  attentionOperator: 'PagedAttention',
  attentionInputs: [PAGED_INPUT.cumulativeLengths, PAGED_INPUT.pastLengths, PAGED_INPUT.blockTable],
  // The unused inputs are slots, sinks, norms (which the WebGPU kernel of ONNX Runtime 1.30 refuses) and scales.
  lateAttentionInputs: ['', '', '', '', '', '', PAGED_INPUT.bounds],
  cacheDims: ({ kvHeadCount, headSize }) => [blocks, blockLength, kvHeadCount, headSize],
  // Larger heads use a prefill kernel of ONNX Runtime 1.30 that is wrong on GPUs with 8 lanes per subgroup.
  largestHeadSize: 256,
};

/** Each call has the tokens of one sequence, which are the only dimension before the last one as in `paged` graphs. */
const deviceSlots: Variant = {
  ...slots,
  name: 'device-slots',
  activation: paged.activation,
  quantisedInputs: paged.quantisedInputs,
  blockSize: paged.blockSize,
  prefersSymmetric: paged.prefersSymmetric,
  positionRank: paged.positionRank,
  splitsSequence: true,
  // Sinks would keep flash attention from being used.
  lateAttentionInputs: [],
  cacheDims: ({ kvHeadCount, headSize }, kvType) => [
    batch,
    kvHeadCount,
    capacity,
    deviceCacheRow({ kvType, headSize }).length,
  ],
};

export const VARIANTS: Readonly<Record<OrtVariant, Variant>> = {
  slots,
  paged,
  'device-slots': deviceSlots,
};
