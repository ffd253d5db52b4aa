// Inputs that each layer has of its own: embeddings of the token, and a projection of the model's embedding.
// Source: transformers, `get_per_layer_inputs`, `project_per_layer_inputs` and `Gemma4TextDecoderLayer` of
// models/gemma4/modeling_gemma4.py

import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import { activate } from './activation.ts';
import type { GraphContext } from './block-context.ts';
import { scaled } from './elementwise.ts';
import { rmsNorm } from './norm.ts';

export interface PerLayerContext extends GraphContext {
  readonly weights: DecoderWeights;
  /** Dimensions of a value before the last one. */
  readonly positionRank: 1 | 2;
}

/**
 * ```
 *   embedding [..., hidden] -> projection (as given, [..., layers * size]) -> Mul 1 / sqrt(hidden)
 *      -> norm over each layer's part --+
 *   rows of the token, Mul sqrt(size) --Add -> Mul 1 / sqrt(2)      [..., layers * size]
 * ```
 */
export function perLayerInputs(
  context: PerLayerContext,
  { rows, projected }: { readonly rows: string; readonly projected: string },
): string {
  const { graph, config, weights, positionRank } = context;
  const { layerCount, hiddenSize } = config;
  const { size } = config.perLayerInput!;
  const path = '/model/per_layer';
  const kept = Array.from({ length: positionRank }, () => 0);
  const apart = graph.constant(`${path}/layers_apart`, 'int64', [...kept, layerCount, size]);
  const joined = graph.constant(`${path}/layers_joined`, 'int64', [...kept, layerCount * size]);
  const projection = scaled(context, `${path}/projection_scale`, projected, hiddenSize ** -0.5);
  const split = graph.op(`${path}/Reshape_1`, 'Reshape', [projection, apart]);
  const normed = rmsNorm(context, `${path}/projection_norm`, split, weights.perLayerProjectionNorm());
  const again = graph.op(`${path}/Reshape_2`, 'Reshape', [normed, joined]);
  const tokens = scaled(context, `${path}/rows_scale`, rows, Math.fround(Math.sqrt(size)));
  return scaled(context, `${path}/scale`, graph.op(`${path}/Add`, 'Add', [again, tokens]), Math.SQRT1_2);
}

/** The part of a layer. Shape: `[..., layers * size]` to `[..., size]`. */
export function layerInput(
  { graph, config, positionRank }: PerLayerContext,
  layer: number,
  all: string,
): string {
  const { size } = config.perLayerInput!;
  const path = `/model/layers.${layer}/per_layer_input`;
  const bound = (name: string, value: number) => graph.constant(`${path}/${name}`, 'int64', [value]);
  const bounds = [
    bound('start', layer * size),
    bound('end', (layer + 1) * size),
    bound('axis', positionRank),
  ];
  return graph.op(`${path}/Slice`, 'Slice', [all, ...bounds]);
}

/** `project` multiplies by a matrix of the layer. Returns what is added to the residual stream, before its norm. */
export function perLayerUpdate(
  context: GraphContext,
  layer: number,
  { residual, own }: { readonly residual: string; readonly own: string },
  project: (role: 'perLayerGate' | 'perLayerProjection', path: string, input: string) => string,
): string {
  const { graph, config } = context;
  const path = `/model/layers.${layer}/per_layer_input`;
  const gate = project('perLayerGate', `${path}/gate`, residual);
  const activated = activate(context, `${path}/act`, gate, config.activation);
  const gated = graph.op(`${path}/Mul`, 'Mul', [activated, own]);
  return project('perLayerProjection', `${path}/projection`, gated);
}
