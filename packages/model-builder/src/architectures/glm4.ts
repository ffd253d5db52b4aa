// GLM-4-0414: norms before and after attention and MLP, and a rotation of neighbouring elements in half of each head.
// Source: transformers, models/glm4/modeling_glm4.py

import type { Architecture } from './architecture.ts';

export const glm4: Architecture = {
  modelType: 'glm4',
  names: 'GLM-4 0414, GLM-Z1',
  defaults: { num_key_value_heads: 2, head_dim: 128, rms_norm_eps: 1.5625e-7 },
  read: (keys, reader) => ({
    qkvBias: keys.attention_bias ?? true,
    ropes: [reader.rope({ defaultPartialFactor: 0.5, isInterleaved: true })],
    layer: () => ({ rope: 0, window: undefined }),
    modules: {
      afterAttention: 'post_self_attn_layernorm',
      afterMlp: 'post_mlp_layernorm',
      gateUp: 'mlp.gate_up_proj',
    },
  }),
};
