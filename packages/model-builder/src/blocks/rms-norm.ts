// RMS norms: alone, and fused with the residual addition before them.

import { float, int, MICROSOFT } from '@ortler/onnx';
import { declareFloats } from '../weights/declare-weights.ts';
import { type BlockContext, weightName } from './block-context.ts';

/**
 * ```
 *   input [..., size] -> SimplifiedLayerNormalization (scale [size]) -> [..., size]
 * ```
 */
export function rmsNorm(
  context: BlockContext,
  path: string,
  input: string,
  weight: string,
  size: number,
): string {
  const { graph, checkpoint, config, variant } = context;
  const tensors = [checkpoint.tensor(weight, [size])];
  const scale = declareFloats(graph, weightName(path, 'weight'), tensors, variant.activation);
  return graph.op(`${path}/SimplifiedLayerNormalization`, 'SimplifiedLayerNormalization', [input, scale], {
    attributes: { axis: int(-1), epsilon: float(config.normEpsilon), stash_type: int(1) },
  });
}

export interface ResidualNorm {
  readonly normed: string;
  /** The sum before the norm: the residual stream after this point. */
  readonly residual: string;
}

/**
 * ```
 *   residual   update
 *        \     /
 *   SkipSimplifiedLayerNormalization (scale [hidden])
 *        /     \
 *    normed   residual + update
 * ```
 */
export function addAndRmsNorm(
  context: BlockContext,
  path: string,
  residual: string,
  update: string,
  weight: string,
): ResidualNorm {
  const { graph, checkpoint, config, variant } = context;
  const tensors = [checkpoint.tensor(weight, [config.hiddenSize])];
  const scale = declareFloats(graph, weightName(path, 'weight'), tensors, variant.activation);
  const node = `${path}/SkipSimplifiedLayerNormalization`;
  const [normed, sum] = [`${node}/output_0`, `${node}/output_3`] as const;
  graph.op(node, 'SkipSimplifiedLayerNormalization', [residual, update, scale], {
    domain: MICROSOFT,
    attributes: { epsilon: float(config.normEpsilon) },
    outputs: [normed, '', '', sum],
  });
  return { normed, residual: sum };
}
