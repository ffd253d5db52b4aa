// What distinguishes the graph variants: their inputs, the operator that attends, and the type of their activations.
// Everything else of a decoder is the same in both.

import { type GraphVariant, PAGED_INPUT, SLOTS_INPUT } from '@ortler/engine/graph-contract';
import type { ValueInfo } from '@ortler/onnx';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';

/** Names of the graph's dimensions that are known only at run time. */
export const DYNAMIC_DIMS = {
  batch: 'batch',
  length: 'length',
  widened: 'widened_length',
  capacity: 'capacity',
  rows: 'row_count',
  tokens: 'token_count',
  blocks: 'block_count',
  blockLength: 'block_length',
  blocksPerSequence: 'blocks_per_sequence',
  boundaries: 'batch_plus_one',
} as const;

/** Inputs that both variants have under the same names. */
export const SHARED_INPUT = {
  inputIds: PAGED_INPUT.inputIds,
  logitRows: PAGED_INPUT.logitRows,
} as const satisfies Partial<typeof SLOTS_INPUT>;

type Dims = readonly (number | string)[];

export interface Variant {
  readonly name: GraphVariant;
  /** Of every value between the embedding and the logits, of small weights, and of the cache. */
  readonly activation: 'float32' | 'float16';
  /** What products with quantised weights make of the activations that they read. */
  readonly quantisedInputs: 'rounded to 8 bits' | 'as given';
  /** How many dimensions of a value name its position, before its last. */
  readonly positionRank: 1 | 2;
  /** Inputs besides the caches and `logit_rows`. */
  readonly inputs: readonly ValueInfo[];
  readonly attentionOperator: 'GroupQueryAttention' | 'PagedAttention';
  /** Its inputs between the caches and the rotary tables. */
  readonly attentionInputs: readonly string[];
  /** Its inputs behind the rotary tables. */
  readonly lateAttentionInputs: readonly string[];
  cacheDims(config: DecoderConfig): Dims;
  /** What the operator has fast and right kernels for. */
  readonly largestHeadSize: number;
}

/** A constant of the graphs that have it: see `attention.ts`. */
export const NO_SINKS = 'model.attention.no_sinks';

/** Numbers in the input `bounds`. */
const BOUND_COUNT = 3;

const { batch, length, capacity, tokens, blocks, blockLength, blocksPerSequence, boundaries } = DYNAMIC_DIMS;

const slots: Variant = {
  name: 'slots',
  activation: 'float32',
  quantisedInputs: 'rounded to 8 bits',
  positionRank: 2,
  inputs: [
    { name: SLOTS_INPUT.inputIds, type: 'int64', dims: [batch, length] },
    { name: SLOTS_INPUT.lastPositions, type: 'int32', dims: [batch] },
    { name: SLOTS_INPUT.totalLength, type: 'int32', dims: [] },
  ],
  attentionOperator: 'GroupQueryAttention',
  attentionInputs: [SLOTS_INPUT.lastPositions, SLOTS_INPUT.totalLength],
  // Position ids and a bias of the scores, which we do not use.
  lateAttentionInputs: ['', '', NO_SINKS],
  cacheDims: ({ kvHeadCount, headSize }) => [batch, kvHeadCount, capacity, headSize],
  largestHeadSize: Number.POSITIVE_INFINITY,
};

const paged: Variant = {
  name: 'paged',
  activation: 'float16',
  quantisedInputs: 'as given',
  positionRank: 1,
  inputs: [
    { name: PAGED_INPUT.inputIds, type: 'int64', dims: [tokens] },
    { name: PAGED_INPUT.blockTable, type: 'int32', dims: [batch, blocksPerSequence] },
    { name: PAGED_INPUT.cumulativeLengths, type: 'int32', dims: [boundaries] },
    { name: PAGED_INPUT.pastLengths, type: 'int32', dims: [batch] },
    { name: PAGED_INPUT.bounds, type: 'int32', dims: [BOUND_COUNT] },
  ],
  attentionOperator: 'PagedAttention',
  attentionInputs: [PAGED_INPUT.cumulativeLengths, PAGED_INPUT.pastLengths, PAGED_INPUT.blockTable],
  // Between them: slots, sinks, norms (which the WebGPU kernel of ONNX Runtime 1.30 refuses) and scales.
  lateAttentionInputs: ['', '', '', '', '', '', PAGED_INPUT.bounds],
  cacheDims: ({ kvHeadCount, headSize }) => [blocks, blockLength, kvHeadCount, headSize],
  // Beyond it, prompts take a path of ONNX Runtime 1.30 that is wrong where subgroups have 8 lanes.
  largestHeadSize: 256,
};

export const VARIANTS: Readonly<Record<GraphVariant, Variant>> = { slots, paged };
