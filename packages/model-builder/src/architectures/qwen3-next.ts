// Qwen3-Next: the layers of Qwen 3.5 with experts, but for matrices of the gated delta networks, which are stored by heads of keys;
// single layers may have an ordinary MLP.
// Source: transformers, models/qwen3_next/modeling_qwen3_next.py and configuration_qwen3_next.py

import { LLAMA_MODULES } from '../hugging-face/decoder-config.ts';
import { GATED_SHARED_EXPERT_MODULES } from '../hugging-face/experts-config.ts';
import type { Architecture } from './architecture.ts';
import { QWEN3_5_DEFAULTS, readQwen3_5Layers } from './qwen3-5.ts';
import { qwenExpertLayers, readExperts } from './read-experts.ts';

export const qwen3Next: Architecture = {
  modelType: 'qwen3_next',
  names: 'Qwen3-Next-80B-A3B, Qwen3-Coder-Next',
  defaults: {
    ...QWEN3_5_DEFAULTS,
    vocab_size: 151_936,
    hidden_size: 2048,
    intermediate_size: 5632,
    num_hidden_layers: 48,
    num_key_value_heads: 2,
    num_experts: 512,
    num_experts_per_tok: 10,
    moe_intermediate_size: 512,
    shared_expert_intermediate_size: 512,
  },
  readsLayerTypes: true,
  read(keys, reader) {
    const hasExperts = qwenExpertLayers(keys, reader);
    return {
      experts: readExperts(keys, reader, {
        countKey: 'num_experts',
        intermediateSize: keys.moe_intermediate_size!,
        isNormalised: keys.norm_topk_prob ?? true,
        modules: GATED_SHARED_EXPERT_MODULES,
      }),
      ...readQwen3_5Layers(keys, reader, layer =>
        hasExperts(layer)
          ? { intermediateSize: keys.shared_expert_intermediate_size! }
          : { hasExperts: false, intermediateSize: keys.intermediate_size },
      ),
      modules: {
        recurrent: {
          ...LLAMA_MODULES.recurrent,
          headsInputGate: 'linear_attn.in_proj_qkvz',
          headsBetaDecay: 'linear_attn.in_proj_ba',
        },
      },
    };
  },
};
