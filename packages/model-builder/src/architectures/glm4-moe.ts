// GLM 4.5 to 4.7: experts chosen as in DeepSeek-V3, and one that all tokens share, after ordinary first layers; a rotation of
// half of each head. Layers that predict further tokens are left out.
// Source: transformers, models/glm4_moe/modeling_glm4_moe.py and configuration_glm4_moe.py

import type { Architecture } from './architecture.ts';
import { expertsAfterFirst, mixtureLayers, readExperts, sigmoidExperts } from './read-experts.ts';

export const glm4Moe: Architecture = {
  modelType: 'glm4_moe',
  names: 'GLM-4.5, 4.6 and 4.7, Air',
  defaults: {
    num_key_value_heads: 8,
    n_routed_experts: 128,
    n_shared_experts: 1,
    num_experts_per_tok: 8,
    moe_intermediate_size: 1408,
    first_k_dense_replace: 1,
    topk_group: 1,
    rms_norm_eps: 1e-5,
  },
  read(keys, reader) {
    const sharedSize = keys.moe_intermediate_size! * keys.n_shared_experts!;
    return {
      qkvBias: keys.attention_bias ?? false,
      queryKeyNorm: keys.use_qk_norm ? 'head' : 'none',
      predictionLayerCount: keys.num_nextn_predict_layers ?? keys.num_mtp_layers ?? 1,
      experts: readExperts(keys, reader, {
        countKey: 'n_routed_experts',
        intermediateSize: keys.moe_intermediate_size!,
        ...sigmoidExperts(keys, reader, 1),
      }),
      ropes: [reader.rope({ defaultPartialFactor: 0.5 })],
      layer: mixtureLayers(keys, { sharedSize, hasExperts: expertsAfterFirst(keys) }),
    };
  },
};
