// Granite 3 and 4, dense: Llama with factors for the embedding, the scores, what attention and MLP add, and the logits.
// Source: transformers, models/granite/modeling_granite.py

import type { Architecture } from './architecture.ts';

export const granite: Architecture = {
  modelType: 'granite',
  names: 'Granite 3',
  defaults: { rms_norm_eps: 1e-6 },
  read: keys => ({
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    mlpBias: keys.mlp_bias ?? false,
    embeddingScale: keys.embedding_multiplier ?? 1,
    // Transformers divides nothing by the head size where the key is absent.
    attentionScale: keys.attention_multiplier ?? 1,
    residualScale: keys.residual_multiplier ?? 1,
    logitScale: 1 / (keys.logits_scaling ?? 1),
  }),
};
