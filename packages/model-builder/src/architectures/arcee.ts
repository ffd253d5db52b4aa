// Arcee Foundation Models: Llama with an MLP without a gate whose activation is the square of ReLU.
// Source: transformers, models/arcee/modeling_arcee.py

import type { Architecture } from './architecture.ts';

export const arcee: Architecture = {
  modelType: 'arcee',
  names: 'Arcee Foundation Models (AFM)',
  defaults: { rms_norm_eps: 1e-5 },
  activations: { relu2: 'relu2' },
  read: keys => ({
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    mlpBias: keys.mlp_bias ?? false,
    isGated: false,
  }),
};
