// A linear layer in the precision of the build: float or block-quantised.
//
// Checkpoints store its weights as `[out, in]`. Both operators below take that order, so weights are streamed row by row and
// never transposed.

import { int, MICROSOFT } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { declareFloats, declareQuantised, type QuantisedMatrix } from '../weights/declare-weights.ts';
import { type BlockContext, isSymmetric, weightBits, weightName } from './block-context.ts';
import type { Variant } from './variant.ts';

/**
 * Attribute `accuracy_level` of MatMulNBits. Rounded: activations are quantised to int8 with a scale per block, in the blocks
 * of the weights, and multiplied as integers; the error of an element is at most the largest magnitude of its block divided by
 * 254. On a CPU, float32 activations are two times (4 bits) to ten times (8 bits) slower.
 */
const ACCURACY_LEVELS: Readonly<Record<Variant['quantisedInputs'], number>> = {
  'rounded to 8 bits': 4,
  'as given': 0,
};

/** Weights that are declared in the graph already. */
export type Matrix =
  | { readonly kind: 'plain'; readonly name: string }
  | { readonly kind: 'quantised'; readonly matrix: QuantisedMatrix };

export interface LinearInput {
  /** Path of the block: `/model/layers.3/attn/qkv_proj`. */
  readonly path: string;
  /** Name of the value. Shape: `[..., inFeatures]`. */
  readonly input: string;
  /** Matrices stacked along their first dimension, each `[outFeatures, inFeatures]`. */
  readonly matrices: readonly CheckpointTensor[];
  /** One per matrix, or none. */
  readonly biases: readonly CheckpointTensor[];
}

/** Declares the weights and multiplies. Returns the name of the product, `[..., outFeatures]`. */
export function linear(context: BlockContext, { path, input, matrices, biases }: LinearInput): string {
  const { graph, precision, variant } = context;
  const { activation, blockSize } = variant;
  const name = weightName(path, 'weight');
  const bits = weightBits(precision, matrices);
  const matrix: Matrix =
    bits === undefined
      ? { kind: 'plain', name: declareFloats(graph, name, matrices, activation) }
      : {
          kind: 'quantised',
          matrix: declareQuantised(graph, name, matrices, {
            bits,
            blockSize,
            ...(bits === 4 && { isSymmetric: isSymmetric(context, matrices) }),
            layout: 'matmul',
            scaleType: activation,
          }),
        };
  const bias = biases.length === 0 ? '' : declareFloats(graph, weightName(path, 'bias'), biases, activation);
  return multiply(context, { path, input, matrix, bias });
}

export interface MultiplyInput {
  readonly path: string;
  readonly input: string;
  readonly matrix: Matrix;
  /** Name of the bias, or empty. */
  readonly bias: string;
  /** Name of the result; the default is named after the node. */
  readonly output?: string;
}

/**
 * ```
 *   f32:   input [..., in] -> FusedMatMul (weights [out, in], transposed) -> Add (bias) -> [..., out]
 *   f16:   input [rows, in] -> Gemm (weights [out, in], transposed, bias)               -> [rows, out]
 *   q8 q4: input [..., in] -> MatMulNBits (codes, scales, zero points, bias)            -> [..., out]
 * ```
 */
export function multiply(
  { graph, variant }: BlockContext,
  { path, input, matrix, bias, output }: MultiplyInput,
): string {
  const node = `${path}/MatMul`;
  if (matrix.kind === 'quantised') {
    const { bits, blockSize, rowCount, width, codes, scales, zeroPoints } = matrix.matrix;
    // The fifth input is a group index, which is not used. Trailing absent inputs are omitted.
    const inputs = [input, codes, scales, zeroPoints, '', bias];
    while (inputs.at(-1) === '') inputs.pop();
    return graph.op(node, 'MatMulNBits', inputs, {
      domain: MICROSOFT,
      attributes: {
        K: int(width),
        N: int(rowCount),
        bits: int(bits),
        block_size: int(blockSize),
        accuracy_level: int(ACCURACY_LEVELS[variant.quantisedInputs]),
      },
      ...named(output),
    });
  }
  if (variant.positionRank === 1) {
    const inputs = bias === '' ? [input, matrix.name] : [input, matrix.name, bias];
    return graph.op(`${path}/Gemm`, 'Gemm', inputs, { attributes: { transB: int(1) }, ...named(output) });
  }
  const product = graph.op(node, 'FusedMatMul', [input, matrix.name], {
    domain: MICROSOFT,
    attributes: { transB: int(1) },
    ...(bias === '' ? named(output) : {}),
  });
  return bias === '' ? product : graph.op(`${path}/Add`, 'Add', [product, bias], named(output));
}

function named(output: string | undefined): { outputs?: readonly string[] } {
  return output === undefined ? {} : { outputs: [output] };
}
