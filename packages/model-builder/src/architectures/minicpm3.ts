// MiniCPM 3: latent attention with an ordinary MLP, and factors for the embedding, what attention and MLP add, and the logits.
// Source: transformers, models/minicpm3/modeling_minicpm3.py and configuration_minicpm3.py

import type { Architecture } from './architecture.ts';
import { latentHeads, readLatent } from './read-latent.ts';

export const minicpm3: Architecture = {
  modelType: 'minicpm3',
  names: 'MiniCPM 3',
  defaults: {
    num_key_value_heads: 40,
    kv_lora_rank: 256,
    q_lora_rank: 768,
    qk_nope_head_dim: 64,
    qk_rope_head_dim: 32,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
    scale_emb: 12,
    scale_depth: 1.4,
    dim_model_base: 256,
  },
  cachedHeads: latentHeads,
  read(keys, reader) {
    const { hidden_size: hidden, num_hidden_layers: layers } = keys;
    return {
      ...readLatent(keys, reader, { isInterleaved: false }),
      layer: () => ({ rope: 0, window: undefined }),
      mlpBias: keys.mlp_bias ?? false,
      embeddingScale: keys.scale_emb!,
      residualScale: (keys.scale_depth ?? Math.sqrt(layers)) / Math.sqrt(layers),
      logitScale: (keys.dim_model_base ?? hidden) / hidden,
      modules: { query: keys.q_lora_rank == null ? 'self_attn.q_proj' : 'self_attn.q_b_proj' },
    };
  },
};
