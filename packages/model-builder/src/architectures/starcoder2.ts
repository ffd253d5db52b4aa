// StarCoder 2: layer norms, biases everywhere, and an MLP without a gate.
// Source: transformers, models/starcoder2/modeling_starcoder2.py

import type { Architecture } from './architecture.ts';
import { uniformLayers } from './layer-windows.ts';

export const starcoder2: Architecture = {
  modelType: 'starcoder2',
  names: 'StarCoder 2',
  defaults: { num_key_value_heads: 2, tie_word_embeddings: true, sliding_window: null },
  activations: { gelu_pytorch_tanh: 'gelu-tanh' },
  read(keys, reader) {
    const bias = keys.use_bias ?? true;
    return {
      ...uniformLayers(keys, reader),
      qkvBias: bias,
      attentionOutputBias: bias,
      mlpBias: bias,
      isGated: false,
      norm: { kind: 'layer', epsilon: keys.norm_epsilon ?? 1e-5, weightOffset: 0, hasBias: true },
      modules: { up: 'mlp.c_fc', down: 'mlp.c_proj' },
    };
  },
};
