// Qwen 3, dense: norms on query and key heads, and a head size that does not follow from the hidden size.
// Source: transformers, models/qwen3/modeling_qwen3.py and configuration_qwen3.py

import type { Architecture } from './architecture.ts';

/** Published default of `head_dim` for this model type. */
const DEFAULT_HEAD_SIZE = 128;

export const qwen3: Architecture = {
  modelType: 'qwen3',
  defaultHeadSize: () => DEFAULT_HEAD_SIZE,
  features: file => ({
    qkvBias: file.attention_bias,
    attentionOutputBias: file.attention_bias,
    mlpBias: false,
    queryKeyNorm: true,
  }),
};
