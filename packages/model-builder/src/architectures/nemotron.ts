// Nemotron 3 and 4, Minitron: layer norms whose weights are stored less one, a rotation of half of each head, and an MLP without
// a gate whose activation is the square of ReLU.
// Source: transformers, models/nemotron/modeling_nemotron.py

import type { Architecture } from './architecture.ts';

export const nemotron: Architecture = {
  modelType: 'nemotron',
  names: 'Nemotron 4, Minitron',
  activations: { relu2: 'relu2' },
  read: (keys, reader) => ({
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    mlpBias: keys.mlp_bias ?? false,
    isGated: false,
    norm: { kind: 'layer', epsilon: keys.norm_eps ?? 1e-5, weightOffset: 1, hasBias: true },
    ropes: [reader.rope({ defaultPartialFactor: 0.5 })],
    layer: () => ({ rope: 0, window: undefined }),
  }),
};
