// Qwen 2 with experts: attention as in Qwen 2, an expert that all tokens share, and single layers that may have an ordinary MLP.
// Source: transformers, models/qwen2_moe/modeling_qwen2_moe.py and configuration_qwen2_moe.py

import { GATED_SHARED_EXPERT_MODULES } from '../hugging-face/experts-config.ts';
import type { Architecture } from './architecture.ts';
import { QWEN_WINDOW_DEFAULTS, qwenLayers } from './qwen-windows.ts';
import { qwenExpertLayers, readExperts } from './read-experts.ts';

export const qwen2Moe: Architecture = {
  modelType: 'qwen2_moe',
  names: 'Qwen1.5-MoE-A2.7B, Qwen2-57B-A14B',
  defaults: {
    ...QWEN_WINDOW_DEFAULTS,
    num_key_value_heads: 16,
    num_experts: 60,
    num_experts_per_tok: 4,
    moe_intermediate_size: 1408,
    shared_expert_intermediate_size: 5632,
    rms_norm_eps: 1e-6,
  },
  readsLayerTypes: true,
  read(keys, reader) {
    const isWindowed = (layer: number) => layer % 2 === 0 && layer < (keys.max_window_layers ?? 0);
    const plan = qwenLayers(keys, reader, isWindowed);
    const hasExperts = qwenExpertLayers(keys, reader);
    return {
      qkvBias: keys.qkv_bias ?? true,
      experts: readExperts(keys, reader, {
        countKey: 'num_experts',
        intermediateSize: keys.moe_intermediate_size!,
        isNormalised: keys.norm_topk_prob ?? false,
        modules: GATED_SHARED_EXPERT_MODULES,
      }),
      ropes: plan.ropes,
      layer: index => ({
        ...plan.layer(index),
        ...(hasExperts(index)
          ? { intermediateSize: keys.shared_expert_intermediate_size! }
          : { hasExperts: false, intermediateSize: keys.intermediate_size }),
      }),
    };
  },
};
