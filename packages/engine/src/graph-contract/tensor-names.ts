// Names of a graph's inputs, outputs and weights, with the shapes of inputs and outputs.

import type { KvPart } from './layer-cache.ts';

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

/** Outputs of a `slots` graph: `logits` float32 `[rowCount, vocabSize]`, and the caches of `presentName`. */
export const SLOTS_OUTPUT = { logits: 'logits' } as const;

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
 * Inputs of a `paged` graph. The tokens of all sequences of a step are one after the other, whether a sequence has a chunk of its
 * prompt or one token.
 *
 * - `inputIds` int64 `[tokenCount]`
 * - `blockTable` int32 `[batch, blocksPerSequence]`: blocks of each sequence in the order of its tokens; what comes after its last
 *   token is not read.
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
 * Outputs: `logits` float32 `[rowCount, vocabSize]`, and the caches of `presentName`, which are the same memory as the past ones.
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

/** Names of rotary tables begin so. Shape: `[contextLength, size / 2]`; a step reads the rows of its positions only. */
export const ROTARY_TABLES = 'model.rotary';

/** Names of the matrices of experts begin so, in `kernels` graphs. A step reads those of the experts that its tokens choose. */
export const EXPERT_WEIGHTS = 'model.experts';
