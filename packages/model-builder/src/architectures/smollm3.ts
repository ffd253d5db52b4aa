// SmolLM 3: Llama without a rotation in every fourth layer.
// Source: transformers, models/smollm3/modeling_smollm3.py and configuration_smollm3.py

import type { Architecture, ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { slidingLayers, windowLength } from './layer-windows.ts';

/** Whether a layer rotates: `no_rope_layers` has 1 for layers that do. Throws: `config_invalid`. */
function rotatedLayers(keys: ConfigKeys, reader: ConfigReader): (layer: number) => boolean {
  const { no_rope_layers: flags, no_rope_layer_interval: interval = 4, num_hidden_layers: layerCount } = keys;
  if (flags === null || flags === undefined) return layer => (layer + 1) % interval !== 0;
  if (flags.length < layerCount)
    reader.invalid('no_rope_layers', `has ${flags.length} entries for ${layerCount} layers`);
  return layer => flags[layer] !== 0;
}

export const smollm3: Architecture = {
  modelType: 'smollm3',
  names: 'SmolLM3',
  defaults: { num_key_value_heads: 4, rms_norm_eps: 1e-6, tie_word_embeddings: true },
  readsLayerTypes: true,
  read(keys, reader) {
    const isRotated = rotatedLayers(keys, reader);
    const hasWindows = (keys.use_sliding_window ?? false) && (keys.sliding_window ?? null) !== null;
    const isSliding = slidingLayers(keys, reader, layer => hasWindows && !isRotated(layer));
    // Its attention functions do not agree on what this means.
    if (!hasWindows && keys.layer_types?.includes('sliding_attention'))
      reader.refuse('layer_types', 'holds "sliding_attention" without use_sliding_window and sliding_window');
    const window = hasWindows ? windowLength(keys, reader) : undefined;
    return {
      qkvBias: keys.attention_bias ?? false,
      attentionOutputBias: keys.attention_bias ?? false,
      mlpBias: keys.mlp_bias ?? false,
      ropes: [reader.rope({ defaultTheta: 2_000_000 })],
      layer: index => ({
        rope: isRotated(index) ? 0 : undefined,
        window: isSliding(index) ? window : undefined,
      }),
    };
  },
};
