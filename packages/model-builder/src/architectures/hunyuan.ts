// Hunyuan: Llama with norms of queries and keys after the rotation, whose base a fixed factor stretches; dense (0.5B to 7B), or with
// experts beside one that all tokens share (A13B).
// Source: transformers, models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py and models/hunyuan_v1_moe/modeling_hunyuan_v1_moe.py

import { QWEN_EXPERTS, sharedModules } from '../hugging-face/experts-config.ts';
import type { Architecture, ConfigReader, DecoderFeatures } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { readExperts } from './read-experts.ts';

export const hunyuan: Architecture = {
  modelType: 'hunyuan_v1_dense',
  names: 'Hunyuan, dense',
  defaults: { rms_norm_eps: 1e-5 },
  read: (keys, reader) => ({
    ...readAttention(keys, reader),
    layer: () => ({ rope: 0, window: undefined }),
  }),
};

export const hunyuanMoe: Architecture = {
  modelType: 'hunyuan_v1_moe',
  names: 'Hunyuan-A13B',
  defaults: { rms_norm_eps: 1e-5, num_experts: 1, moe_topk: 1 },
  read(keys, reader) {
    const size = keys.intermediate_size;
    if ((keys.moe_intermediate_size ?? size) !== size)
      reader.refuse('moe_intermediate_size', `must be absent or intermediate_size, ${size}`);
    if ((keys.num_shared_expert ?? 1) !== 1) reader.refuse('num_shared_expert', 'must be absent or 1');
    if ((keys.moe_layer_num_skipped ?? 0) !== 0)
      reader.refuse('moe_layer_num_skipped', 'must be absent or 0');
    return {
      ...readAttention(keys, reader),
      experts: readExperts(keys, reader, {
        countKey: 'num_experts',
        chosenKey: 'moe_topk',
        modules: {
          ...QWEN_EXPERTS,
          router: 'mlp.gate.wg',
          shared: sharedModules('mlp.shared_mlp', undefined),
        },
      }),
      layer: () => ({ rope: 0, window: undefined, intermediateSize: size }),
    };
  },
};

function readAttention(keys: ConfigKeys, reader: ConfigReader): Partial<DecoderFeatures> {
  return {
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    queryKeyNorm: 'rotated-head',
    ropes: [reader.rope({ isStretched: true })],
    modules: { queryNorm: 'self_attn.query_layernorm', keyNorm: 'self_attn.key_layernorm' },
  };
}
