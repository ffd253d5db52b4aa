// OLMoE: many small experts, and norms of all query heads and all key heads together.
// Source: transformers, models/olmoe/modeling_olmoe.py

import type { Architecture } from './architecture.ts';
import { readExperts } from './read-experts.ts';

export const olmoe: Architecture = {
  modelType: 'olmoe',
  names: 'OLMoE',
  defaults: { num_experts: 64, num_experts_per_tok: 8, rms_norm_eps: 1e-5 },
  read(keys, reader) {
    if (keys.clip_qkv !== undefined && keys.clip_qkv !== null)
      reader.refuse('clip_qkv', 'must be absent or null: queries, keys and values are not clamped');
    return {
      queryKeyNorm: 'width',
      qkvBias: keys.attention_bias ?? false,
      attentionOutputBias: keys.attention_bias ?? false,
      experts: readExperts(keys, reader, {
        countKey: 'num_experts',
        isNormalised: keys.norm_topk_prob ?? false,
      }),
    };
  },
};
