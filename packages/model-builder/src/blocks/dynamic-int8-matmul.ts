// Dynamic int8 quantisation (W8A8): matrix products of int8 activations, with a scale per row found at run time, and int8
// weights, with a scale per output. For `q8` builds, and for the wide graph of `q4` builds (prefill and large batches).

import { int, MICROSOFT } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { declareInt8, type Int8Source } from '../weights/declare-int8.ts';
import type { WrittenRows } from '../weights/written-matrix.ts';
import type { BlockContext } from './block-context.ts';

/** Names of the shared constants. */
const SHARED = {
  lastAxis: 'int8/last_axis',
  vector: 'int8/vector',
  inverse127: 'int8/inverse_127',
  one: 'int8/one',
  zeroPoint: 'int8/zero_point',
} as const;

/** Zero point of activations in uint8: activations are signed, but the fast kernels take unsigned codes. */
const ZERO_POINT = 128;

/** Declares the shared constants. Call it once, before the first `declareRowZeroPoints`. */
export function declareInt8MatMuls({ graph }: BlockContext): void {
  graph.constant(SHARED.lastAxis, 'int64', [-1]);
  graph.constant(SHARED.vector, 'int64', [-1]);
  graph.constant(SHARED.inverse127, 'float32', [1 / 127]);
  graph.constant(SHARED.one, 'float32', [1]);
  graph.constant(SHARED.zeroPoint, 'uint8', [ZERO_POINT]);
}

/** Declares one zero point per row of activations, as many as the vector `values` has elements. Returns their name. */
export function declareRowZeroPoints({ graph }: BlockContext, path: string, values: string): string {
  const length = graph.op(`${path}/Shape`, 'Shape', [values]);
  return graph.op(`${path}/Expand`, 'Expand', [SHARED.zeroPoint, length]);
}

/** Names of quantised activations. */
export interface Int8Activations {
  /** Codes, uint8. Shape: `[..., rows, size]`. */
  readonly codes: string;
  /** Scales: a value is `scale * (code - 128)`. Shape: `[..., rows, 1]`. */
  readonly scale: string;
}

/**
 * Quantises activations at run time, with one scale per row, so that the codes of a row do not depend on other rows (batch
 * invariance). The error of an activation is at most the largest magnitude of its row divided by 254. A row of zeros has the
 * scale 0 and arbitrary codes.
 * ```
 *   input [1, rows, size] or [rows, size]
 *     |------> Abs, ReduceMax, Mul 1/127       scale [..., rows, 1]
 *   QuantizeLinear (scale, 128)                codes uint8 [..., rows, size]
 * ```
 */
export function quantiseActivations(
  { graph, rowZeroPoints }: BlockContext,
  path: string,
  input: string,
): Int8Activations {
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

export interface Int8MatMulInput {
  readonly path: string;
  /** Name of the quantised activations. */
  readonly codes: string;
  /** Name of the weights. */
  readonly name: string;
  readonly matrices: readonly CheckpointTensor[];
  readonly source: Int8Source;
}

/**
 * Source of a layer's int8 weights. In a `q4` build it is the dequantised 4-bit weights, so that all graphs of the build are
 * one model; the output matrix has 8 bits in every graph. `written` locates the 4-bit codes of the weight-only graph, which
 * is written first.
 */
export function layerSource({ precision }: BlockContext, written: WrittenRows): Int8Source {
  return precision === 'q4' ? { kind: '4-bit codes', ...written } : { kind: 'checkpoint' };
}

/**
 * Declares the weights and multiplies. Returns the name of the product, `[..., rows, out]`, which the caller must multiply by
 * the scales of the rows. The error of a weight is at most the largest magnitude of its output divided by 254.
 */
export function int8MatMul(
  { graph }: BlockContext,
  { path, codes, name, matrices, source }: Int8MatMulInput,
): string {
  const weights = declareInt8(graph, name, matrices, source);
  const inputs = [codes, weights.codes, SHARED.one, weights.scales, SHARED.zeroPoint];
  return graph.op(`${path}/MatMul`, 'MatMulIntegerToFloat', inputs, { domain: MICROSOFT });
}
