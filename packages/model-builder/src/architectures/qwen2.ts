// Qwen 2 and 2.5: biases on queries, keys and values always, nowhere else.
// Source: transformers, models/qwen2/modeling_qwen2.py

import type { Architecture } from './architecture.ts';

export const qwen2: Architecture = {
  modelType: 'qwen2',
  defaultHeadSize: file => file.hidden_size / file.num_attention_heads,
  features: () => ({ qkvBias: true, attentionOutputBias: false, mlpBias: false, queryKeyNorm: false }),
};
