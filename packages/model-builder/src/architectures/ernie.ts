// ERNIE 4.5: Llama with rotations of neighbouring elements and one key for all biases; dense, or with experts chosen by a softmax with
// a bias, beside some that all tokens share. Layers that predict further tokens are left out.
// Source: transformers, models/ernie4_5/modeling_ernie4_5.py, models/ernie4_5_moe/modeling_ernie4_5_moe.py and
// configuration_ernie4_5_moe.py

import { QWEN_EXPERTS, SHARED_EXPERT_MODULES } from '../hugging-face/experts-config.ts';
import type { Architecture } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { mixtureLayers, readExperts } from './read-experts.ts';

const ROTATION = { defaultTheta: 500_000, isInterleaved: true } as const;

export const ernie: Architecture = {
  modelType: 'ernie4_5',
  names: 'ERNIE 4.5, dense',
  defaults: { num_key_value_heads: 2, head_dim: 128, rms_norm_eps: 1e-5, tie_word_embeddings: true },
  read(keys, reader) {
    const bias = keys.use_bias ?? false;
    return {
      qkvBias: bias,
      attentionOutputBias: bias,
      mlpBias: bias,
      ropes: [reader.rope(ROTATION)],
      layer: () => ({ rope: 0, window: undefined }),
    };
  },
};

/** Least sum that scores are divided by. It is that of the kernels. */
const MIN_SUM = 1e-12;

export const ernieMoe: Architecture = {
  modelType: 'ernie4_5_moe',
  names: 'ERNIE-4.5-21B-A3B and 300B-A47B',
  defaults: {
    num_key_value_heads: 4,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
    moe_intermediate_size: 1536,
    moe_k: 6,
    moe_num_experts: 64,
    moe_num_shared_experts: 2,
    moe_layer_start_index: 1,
    moe_layer_end_index: -1,
    moe_layer_interval: 1,
    moe_norm_min: MIN_SUM,
  },
  read(keys, reader) {
    if (keys.use_bias)
      reader.refuse('use_bias', 'must be absent or false: the output matrix would have a bias');
    if (keys.moe_norm_min !== MIN_SUM) reader.refuse('moe_norm_min', `must be absent or ${MIN_SUM}`);
    const sharedCount = keys.moe_num_shared_experts!;
    return {
      ropes: [reader.rope(ROTATION)],
      experts: readExperts(keys, reader, {
        countKey: 'moe_num_experts',
        chosenKey: 'moe_k',
        intermediateSize: keys.moe_intermediate_size!,
        modules: {
          ...(sharedCount === 0 ? QWEN_EXPERTS : SHARED_EXPERT_MODULES),
          selectionBias: 'mlp.moe_statics.e_score_correction_bias',
          selectionBiasIsRow: true,
        },
      }),
      layer: mixtureLayers(keys, {
        sharedSize: sharedCount * keys.moe_intermediate_size!,
        hasExperts: layer => hasExperts(keys, layer),
      }),
    };
  },
};

function hasExperts(keys: ConfigKeys, layer: number): boolean {
  const last = keys.moe_layer_end_index === -1 ? keys.num_hidden_layers - 1 : keys.moe_layer_end_index!;
  return (
    (layer + 1) % keys.moe_layer_interval! === 0 && layer >= keys.moe_layer_start_index! && layer <= last
  );
}
