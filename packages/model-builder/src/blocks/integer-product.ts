// A matrix product in 8-bit integers, for many rows at once: several times faster there than products with 4-bit
// weights, whose blocks must be widened again for every row.

import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { int, MICROSOFT } from '../onnx/graph.ts';
import { declareInt8 } from '../weights/declare-int8.ts';
import type { BlockContext } from './block-context.ts';

/** Names of the constants that all products share. */
const SHARED = {
  lastAxis: 'int8/last_axis',
  vector: 'int8/vector',
  inverse127: 'int8/inverse_127',
  smallest: 'int8/smallest_scale',
  one: 'int8/one',
  zeroPoint: 'int8/zero_point',
  rowZeroPoints: 'int8/row_zero_points',
} as const;

/** The middle of unsigned 8-bit codes: activations are signed, but the fast kernels take them unsigned. */
const ZERO_POINT = 128;
/** A row of zeros has this scale instead of none. */
const SMALLEST_SCALE = 1e-30;

/** Declares what all integer products share. `ids` is `[1, length]`. To be called once, before the first product. */
export function declareIntegerProducts({ graph }: BlockContext, ids: string): void {
  graph.constant(SHARED.lastAxis, 'int64', [-1]);
  graph.constant(SHARED.vector, 'int64', [-1]);
  graph.constant(SHARED.inverse127, 'float32', [1 / 127]);
  graph.constant(SHARED.smallest, 'float32', [SMALLEST_SCALE]);
  graph.constant(SHARED.one, 'float32', [1]);
  graph.constant(SHARED.zeroPoint, 'uint8', [ZERO_POINT]);
  const index = graph.constant('int8/length_index', 'int64', [1]);
  const shape = graph.op('int8/Shape', 'Shape', [ids]);
  const length = graph.op('int8/Gather', 'Gather', [shape, index]);
  graph.op('int8/Expand', 'Expand', [SHARED.zeroPoint, length], { outputs: [SHARED.rowZeroPoints] });
}

/**
 * Each row of the input has its own scale, so a row's result does not depend on the rows beside it.
 * ```
 *   input [1, length, in]
 *     |------> Abs, ReduceMax, Mul 1/127, Max            scale [1, length, 1]
 *     |                                    |
 *   QuantizeLinear (scale, 128)            |             codes uint8 [1, length, in]
 *     |                                    |
 *   MatMulIntegerToFloat (weights)         |             [1, length, out], without the scale of the row
 *     |                                    |
 *    Mul ----------------------------------+             [1, length, out]
 * ```
 * An activation is off by at most the largest magnitude of its row divided by 254, a weight by that of its output.
 */
export function integerProduct(
  context: BlockContext,
  path: string,
  input: string,
  { name, matrices }: { readonly name: string; readonly matrices: readonly CheckpointTensor[] },
): string {
  const { graph } = context;
  const weights = declareInt8(graph, name, matrices);
  const magnitudes = graph.op(`${path}/Abs`, 'Abs', [input]);
  const largest = graph.op(`${path}/ReduceMax`, 'ReduceMax', [magnitudes, SHARED.lastAxis], {
    attributes: { keepdims: int(1) },
  });
  const exact = graph.op(`${path}/Scale`, 'Mul', [largest, SHARED.inverse127]);
  const scale = graph.op(`${path}/Max`, 'Max', [exact, SHARED.smallest]);
  const scales = graph.op(`${path}/Reshape`, 'Reshape', [scale, SHARED.vector]);
  const codes = graph.op(`${path}/QuantizeLinear`, 'QuantizeLinear', [input, scales, SHARED.rowZeroPoints], {
    attributes: { axis: int(-2) },
  });
  const product = graph.op(
    `${path}/MatMulIntegerToFloat`,
    'MatMulIntegerToFloat',
    [codes, weights.codes, SHARED.one, weights.scales, SHARED.zeroPoint],
    { domain: MICROSOFT },
  );
  return graph.op(`${path}/Mul`, 'Mul', [product, scale]);
}
