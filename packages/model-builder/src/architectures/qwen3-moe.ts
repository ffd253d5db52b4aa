// Qwen 3 with experts: attention as in Qwen 3, and single layers that may have an ordinary MLP.
// Source: transformers, models/qwen3_moe/modeling_qwen3_moe.py and configuration_qwen3_moe.py

import type { Architecture } from './architecture.ts';
import { uniformLayers } from './layer-windows.ts';
import { qwenExpertLayers, readExperts } from './read-experts.ts';

export const qwen3Moe: Architecture = {
  modelType: 'qwen3_moe',
  names: 'Qwen3-30B-A3B, Qwen3-235B-A22B, Qwen3-Coder',
  defaults: {
    num_experts: 128,
    num_experts_per_tok: 8,
    num_key_value_heads: 4,
    moe_intermediate_size: 768,
    sliding_window: 4096,
    rms_norm_eps: 1e-6,
  },
  read(keys, reader) {
    // A window is in all layers or in none.
    const windowed = keys.use_sliding_window === true ? keys : { ...keys, sliding_window: null };
    const plan = uniformLayers(windowed, reader);
    const hasExperts = qwenExpertLayers(keys, reader);
    return {
      qkvBias: keys.attention_bias ?? false,
      attentionOutputBias: keys.attention_bias ?? false,
      queryKeyNorm: 'head',
      experts: readExperts(keys, reader, {
        countKey: 'num_experts',
        intermediateSize: keys.moe_intermediate_size!,
        isNormalised: keys.norm_topk_prob ?? false,
      }),
      ropes: plan.ropes,
      layer: index => ({
        ...plan.layer(index),
        ...(hasExperts(index) ? {} : { hasExperts: false, intermediateSize: keys.intermediate_size }),
      }),
    };
  },
};
