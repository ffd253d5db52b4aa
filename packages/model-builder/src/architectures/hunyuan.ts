// Hunyuan, dense (0.5B to 7B): Llama with norms of queries and keys behind the rotation, whose base a fixed factor stretches.
// Source: transformers, models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py

import type { Architecture } from './architecture.ts';

export const hunyuan: Architecture = {
  modelType: 'hunyuan_v1_dense',
  names: 'Hunyuan, dense',
  defaults: { rms_norm_eps: 1e-5 },
  read: (keys, reader) => ({
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    queryKeyNorm: 'rotated-head',
    ropes: [reader.rope({ isStretched: true })],
    layer: () => ({ rope: 0, window: undefined }),
    modules: { queryNorm: 'self_attn.query_layernorm', keyNorm: 'self_attn.key_layernorm' },
  }),
};
