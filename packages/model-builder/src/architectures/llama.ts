// Llama 1 to 3, SmolLM and all other models with `model_type: llama`.
// Source: transformers, models/llama/modeling_llama.py

import type { Architecture } from './architecture.ts';

export const llama: Architecture = {
  modelType: 'llama',
  defaultHeadSize: file => file.hidden_size / file.num_attention_heads,
  features: file => ({
    qkvBias: file.attention_bias,
    attentionOutputBias: file.attention_bias,
    mlpBias: file.mlp_bias,
    queryKeyNorm: false,
  }),
};
