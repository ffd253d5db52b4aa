// Llama 1 to 3, SmolLM and all other models with `model_type: llama`.
// Source: transformers, models/llama/modeling_llama.py

import type { Architecture } from './architecture.ts';

export const llama: Architecture = {
  modelType: 'llama',
  names:
    'Llama 1 to 3.3, SmolLM 1 and 2, TinyLlama, Yi, DeepSeek R1 Distill Llama and other Llama derivatives',
  read: keys => ({
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    mlpBias: keys.mlp_bias ?? false,
  }),
};
