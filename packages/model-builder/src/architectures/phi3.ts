// Phi-3 and 3.5 mini and medium, Phi-4 and its mini: Llama with one matrix for queries, keys and values and one for gates and ups,
// and in some a rotation of a part of each head.
// Source: transformers, models/phi3/modeling_phi3.py and configuration_phi3.py

import type { Architecture } from './architecture.ts';
import { uniformLayers } from './layer-windows.ts';

export const phi3: Architecture = {
  modelType: 'phi3',
  names: 'Phi-3, 3.5, 4 and 4-mini',
  defaults: { rms_norm_eps: 1e-5, sliding_window: null, original_max_position_embeddings: 4096 },
  read(keys, reader) {
    const rope = reader.rope({ defaultPartialFactor: 1 });
    if (rope.scaling.kind !== 'none' && rope.scaling.kind !== 'longrope')
      reader.refuse('rope_scaling', `is ${rope.scaling.kind}; allowed: longrope`);
    return {
      ...uniformLayers(keys, reader, rope),
      modules: { queryKeyValue: 'self_attn.qkv_proj', gateUp: 'mlp.gate_up_proj' },
    };
  },
};
