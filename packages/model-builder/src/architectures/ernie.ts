// ERNIE 4.5, dense: Llama with rotations of neighbouring elements and one key for all biases.
// Source: transformers, models/ernie4_5/modeling_ernie4_5.py

import type { Architecture } from './architecture.ts';

export const ernie: Architecture = {
  modelType: 'ernie4_5',
  names: 'ERNIE 4.5, dense',
  defaults: { num_key_value_heads: 2, head_dim: 128, rms_norm_eps: 1e-5, tie_word_embeddings: true },
  read(keys, reader) {
    const bias = keys.use_bias ?? false;
    return {
      qkvBias: bias,
      attentionOutputBias: bias,
      mlpBias: bias,
      ropes: [reader.rope({ defaultTheta: 500_000, isInterleaved: true })],
      layer: () => ({ rope: 0, window: undefined }),
    };
  },
};
