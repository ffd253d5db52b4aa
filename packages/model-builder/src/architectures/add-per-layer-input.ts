// What a layer adds for its own input, after its MLP.

import type { GraphContext } from '../blocks/block-context.ts';
import { perLayerUpdate } from '../blocks/per-layer-input.ts';
import { addUpdate } from '../blocks/residual-stream.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import { layerNorm } from './placed-norms.ts';

/** The residual stream after it; `project` multiplies by a matrix of the layer. */
export function addPerLayerInput(
  context: GraphContext & { readonly weights: DecoderWeights },
  layer: number,
  values: { readonly residual: string; readonly own: string },
  project: Parameters<typeof perLayerUpdate>[3],
): string {
  const update = perLayerUpdate(context, layer, values, project);
  const ownNorm = layerNorm(context.weights, layer, 'afterPerLayerInput');
  const path = `/model/layers.${layer}/per_layer_input`;
  return addUpdate(context, path, { residual: values.residual, update, ownNorm, next: undefined }).residual;
}
