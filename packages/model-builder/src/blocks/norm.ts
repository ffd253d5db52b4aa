// Norms of the residual stream and of heads.

import { float, int } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { NormWeights } from '../hugging-face/decoder-weights.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import { type GraphContext, weightName } from './block-context.ts';

/**
 * ```
 *   input [..., size] -> SimplifiedLayerNormalization (scale [size]) -> [..., size]
 * ```
 */
export function rmsNorm(
  { graph, config, activation }: GraphContext,
  path: string,
  input: string,
  weight: CheckpointTensor,
  epsilon: number = config.norm.epsilon,
): string {
  const scale = declareFloats(graph, weightName(path, 'weight'), [weight], activation);
  return graph.op(`${path}/SimplifiedLayerNormalization`, 'SimplifiedLayerNormalization', [input, scale], {
    attributes: { axis: int(-1), epsilon: float(epsilon), stash_type: int(1) },
  });
}

/**
 * The norm of the model: an RMS norm, or
 * ```
 *   input [..., hidden] -> LayerNormalization (scale [hidden], bias [hidden]) -> [..., hidden]
 * ```
 */
export function norm(context: GraphContext, path: string, input: string, weights: NormWeights): string {
  const { graph, config, activation } = context;
  if (config.norm.kind === 'rms') return rmsNorm(context, path, input, weights.weight);
  const inputs = [input, declareFloats(graph, weightName(path, 'weight'), [weights.weight], activation)];
  if (weights.bias !== undefined)
    inputs.push(declareFloats(graph, weightName(path, 'bias'), [weights.bias], activation));
  return graph.op(`${path}/LayerNormalization`, 'LayerNormalization', inputs, {
    attributes: { axis: int(-1), epsilon: float(config.norm.epsilon) },
  });
}
