// A matrix product with weights of the checkpoint, in the precision of the build.
//
// Checkpoints store a linear layer as `[out, in]`. Both operators below take that order, so weights are
// streamed row by row and never transposed.

import type { CheckpointTensor } from '../hugging-face/checkpoint.ts';
import { int, MICROSOFT } from '../onnx/graph.ts';
import { type BlockContext, floatWeights } from './block-context.ts';

export interface LinearInput {
  /** Path of the block: `/model/layers.3/attn/qkv_proj`. */
  readonly path: string;
  /** Name of the value. Shape: `[..., inFeatures]`. */
  readonly input: string;
  /** Matrices stacked along their first dimension, each `[outFeatures, inFeatures]`. */
  readonly matrices: readonly CheckpointTensor[];
  /** One per matrix, or none. */
  readonly biases: readonly CheckpointTensor[];
  /** Name of the result; the default is named after the node. Only without biases. */
  readonly output?: string;
}

/**
 * ```
 *   input [..., in]
 *     |
 *   FusedMatMul (weights [out, in], transposed)
 *     |
 *   Add (bias [out])          only with biases
 *     |
 *   [..., out]
 * ```
 */
export function linear(context: BlockContext, options: LinearInput): string {
  const { graph } = context;
  const { path, input, matrices, biases, output } = options;
  const weight = floatWeights(graph, weightName(path, 'weight'), matrices);
  const product = graph.op(`${path}/MatMul`, 'FusedMatMul', [input, weight], {
    domain: MICROSOFT,
    attributes: { transB: int(1) },
    ...(output === undefined ? {} : { outputs: [output] }),
  });
  if (biases.length === 0) return product;
  const bias = floatWeights(graph, weightName(path, 'bias'), biases);
  return graph.op(`${path}/Add`, 'Add', [product, bias]);
}

/** Weights are named like the checkpoint's: `model.layers.3.attn.qkv_proj.weight`. */
export function weightName(path: string, part: string): string {
  return `${path.slice(1).replaceAll('/', '.')}.${part}`;
}
