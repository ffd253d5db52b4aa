// The norms of a layer and their places in the graph.

import type { PlacedNorm } from '../blocks/residual-stream.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights, LayerNorm } from '../hugging-face/decoder-weights.ts';

const NAMES: Readonly<Record<LayerNorm, string>> = {
  beforeAttention: 'input_layernorm',
  afterAttention: 'attention_output_layernorm',
  beforeMlp: 'post_attention_layernorm',
  afterMlp: 'mlp_output_layernorm',
  afterPerLayerInput: 'per_layer_input_layernorm',
};

/** Undefined where the layer has no such norm. */
export function layerNorm(weights: DecoderWeights, layer: number, role: LayerNorm): PlacedNorm | undefined {
  const norm = weights.norm(layer, role);
  return norm && { path: `/model/layers.${layer}/${NAMES[role]}`, weights: norm };
}

/** The norm after a layer: that of the next layer's attention, or the final one. */
export function nextNorm(
  weights: DecoderWeights,
  { layerCount }: DecoderConfig,
  layer: number,
): PlacedNorm | undefined {
  if (layer < layerCount - 1) return layerNorm(weights, layer + 1, 'beforeAttention');
  return { path: '/model/norm', weights: weights.finalNorm() };
}
