// Seed-OSS: Llama with keys of its own for the biases of queries, keys and values, and of the attention's output.
// Source: transformers, models/seed_oss/modeling_seed_oss.py

import type { Architecture } from './architecture.ts';

export const seedOss: Architecture = {
  modelType: 'seed_oss',
  names: 'Seed-OSS',
  defaults: { num_key_value_heads: 8, head_dim: 128, rms_norm_eps: 1e-6 },
  read: keys => ({
    qkvBias: keys.attention_bias ?? true,
    attentionOutputBias: keys.attention_out_bias ?? false,
    mlpBias: keys.mlp_bias ?? false,
  }),
};
