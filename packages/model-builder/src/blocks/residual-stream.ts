// The residual stream: what attention and MLP add to it, and the norm of it that comes next.

import { float, MICROSOFT } from '@ortler/onnx';
import type { DecoderWeights, NormWeights } from '../hugging-face/decoder-weights.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import { type GraphContext, weightName } from './block-context.ts';
import { scaled } from './elementwise.ts';
import { norm } from './norm.ts';

/** A norm and its place in the graph: `/model/layers.3/input_layernorm`. */
export interface PlacedNorm {
  readonly path: string;
  readonly weights: NormWeights;
}

export interface Stream {
  /** The sum so far. */
  readonly residual: string;
  /** Its norm: the input of what comes next. The sum itself where there is no norm. */
  readonly normed: string;
}

/**
 * ```
 *   update -> norm of it, if any -> Mul by the residual scale, if any
 *                                      |
 *   residual ------------------------ Add ----> norm, if any
 * ```
 * The addition and an RMS norm after it are one operator, SkipSimplifiedLayerNormalization.
 */
export function addUpdate(
  context: GraphContext,
  path: string,
  {
    residual,
    update,
    ownNorm,
    next,
  }: {
    readonly residual: string;
    readonly update: string;
    readonly ownNorm: PlacedNorm | undefined;
    readonly next: PlacedNorm | undefined;
  },
): Stream {
  const { graph, config, activation } = context;
  const part = ownUpdate(context, path, update, ownNorm);
  if (next === undefined || config.norm.kind !== 'rms') {
    const sum = graph.op(`${path}/Add`, 'Add', [residual, part]);
    return { residual: sum, normed: next === undefined ? sum : norm(context, next.path, sum, next.weights) };
  }
  const scale = declareFloats(graph, weightName(next.path, 'weight'), [next.weights.weight], activation);
  const node = `${next.path}/SkipSimplifiedLayerNormalization`;
  const [normed, sum] = [`${node}/output_0`, `${node}/output_3`] as const;
  graph.op(node, 'SkipSimplifiedLayerNormalization', [residual, part, scale], {
    domain: MICROSOFT,
    attributes: { epsilon: float(config.norm.epsilon) },
    outputs: [normed, '', '', sum],
  });
  return { normed, residual: sum };
}

/** What is added to the stream: the update, normed and scaled where the model says so. */
function ownUpdate(
  context: GraphContext,
  path: string,
  update: string,
  ownNorm: PlacedNorm | undefined,
): string {
  const normed = ownNorm === undefined ? update : norm(context, ownNorm.path, update, ownNorm.weights);
  return scaled(context, `${path}/scale`, normed, context.config.residualScale);
}

/** The residual stream after a layer by the layer's number. */
export function scaleLayer(
  { graph, weights, activation }: GraphContext & { readonly weights: DecoderWeights },
  layer: number,
  residual: string,
): string {
  const path = `/model/layers.${layer}/layer_scale`;
  const factor = declareFloats(graph, weightName(path, 'weight'), [weights.layerScale(layer)], activation);
  return graph.op(`${path}/Mul`, 'Mul', [residual, factor]);
}
