// Matrix products in 8-bit integers with a scale for each row of the activations and for each output of the weights: the
// products of `q8` builds, and of `q4` ones where a call has many rows.

import { int, MICROSOFT } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { declareInt8, type Int8Source } from '../weights/declare-int8.ts';
import type { WrittenRows } from '../weights/written-matrix.ts';
import type { BlockContext } from './block-context.ts';

/** Names of the constants that all products share. */
const SHARED = {
  lastAxis: 'int8/last_axis',
  vector: 'int8/vector',
  inverse127: 'int8/inverse_127',
  one: 'int8/one',
  zeroPoint: 'int8/zero_point',
} as const;

/** The middle of unsigned 8-bit codes: activations are signed, but the fast kernels take them unsigned. */
const ZERO_POINT = 128;

/** Declares what all integer products share. To be called once, before the first `declareRowZeroPoints`. */
export function declareIntegerProducts({ graph }: BlockContext): void {
  graph.constant(SHARED.lastAxis, 'int64', [-1]);
  graph.constant(SHARED.vector, 'int64', [-1]);
  graph.constant(SHARED.inverse127, 'float32', [1 / 127]);
  graph.constant(SHARED.one, 'float32', [1]);
  graph.constant(SHARED.zeroPoint, 'uint8', [ZERO_POINT]);
}

/** A zero point for each row of activations, as many as `values`, a vector, has elements. Returns their name. */
export function declareRowZeroPoints({ graph }: BlockContext, path: string, values: string): string {
  const length = graph.op(`${path}/Shape`, 'Shape', [values]);
  return graph.op(`${path}/Expand`, 'Expand', [SHARED.zeroPoint, length]);
}

/** Rows of activations as integers. */
export interface RowCodes {
  /** Name of the codes, uint8. Shape: `[..., rows, size]`. */
  readonly codes: string;
  /** Name of what a code less 128 is multiplied with. Shape: `[..., rows, 1]`. */
  readonly scale: string;
}

/**
 * Each row has its own scale, so its codes do not depend on the rows beside it. An activation is off by at most the largest
 * magnitude of its row divided by 254. The codes of a row of zeros mean nothing; its scale is zero.
 * ```
 *   input [1, rows, size] or [rows, size]
 *     |------> Abs, ReduceMax, Mul 1/127       scale [..., rows, 1]
 *   QuantizeLinear (scale, 128)                codes uint8 [..., rows, size]
 * ```
 */
export function quantiseRows({ graph, rowZeroPoints }: BlockContext, path: string, input: string): RowCodes {
  const magnitudes = graph.op(`${path}/Abs`, 'Abs', [input]);
  const largest = graph.op(`${path}/ReduceMax`, 'ReduceMax', [magnitudes, SHARED.lastAxis], {
    attributes: { keepdims: int(1) },
  });
  const scale = graph.op(`${path}/Scale`, 'Mul', [largest, SHARED.inverse127]);
  const scales = graph.op(`${path}/Reshape`, 'Reshape', [scale, SHARED.vector]);
  const codes = graph.op(`${path}/QuantizeLinear`, 'QuantizeLinear', [input, scales, rowZeroPoints], {
    attributes: { axis: int(-2) },
  });
  return { codes, scale };
}

export interface IntegerProductInput {
  readonly path: string;
  /** Codes of the rows. */
  readonly codes: string;
  /** Name of the weights. */
  readonly name: string;
  readonly matrices: readonly CheckpointTensor[];
  readonly source: Int8Source;
}

/**
 * What the integers of a layer stand for. In a `q4` build they are those of its 4-bit weights, so that all of its graphs are
 * one model; the output matrix has 8 bits in every graph. `written` says where the graph of blocks, which is written before, has
 * the codes.
 */
export function layerSource({ precision }: BlockContext, written: WrittenRows): Int8Source {
  return precision === 'q4' ? { kind: '4-bit codes', ...written } : { kind: 'checkpoint' };
}

/**
 * Declares the weights and multiplies. Returns the name of the product, `[..., rows, out]`, which still is to be multiplied
 * with the scale of each row. A weight is off by at most the largest magnitude of its output divided by 254.
 */
export function integerProduct(
  { graph }: BlockContext,
  { path, codes, name, matrices, source }: IntegerProductInput,
): string {
  const weights = declareInt8(graph, name, matrices, source);
  const inputs = [codes, weights.codes, SHARED.one, weights.scales, SHARED.zeroPoint];
  return graph.op(`${path}/MatMul`, 'MatMulIntegerToFloat', inputs, { domain: MICROSOFT });
}
