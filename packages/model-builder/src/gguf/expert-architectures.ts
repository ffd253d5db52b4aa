// GGUF files of mixtures of experts whose layers all have attention.
// Source: llama.cpp, conversion/ (qwen.py, glm.py, granite.py, gpt_oss.py, olmo.py, ernie.py, hunyuan.py) and src/models

import { expertKeys, groupKeys, refuseOtherScores } from './expert-keys.ts';
import type { GgufArchitecture } from './gguf-architecture.ts';
import { graniteKeys } from './granite-keys.ts';

export const olmoe: GgufArchitecture = {
  modelType: 'olmoe',
  hasExperts: true,
  configKeys: facts => ({ ...expertKeys(facts, 'olmoe'), norm_topk_prob: false }),
};

export const qwen3Moe: GgufArchitecture = {
  modelType: 'qwen3_moe',
  hasExperts: true,
  configKeys: facts => ({
    ...expertKeys(facts, 'qwen3moe'),
    moe_intermediate_size: facts.fields.count('qwen3moe.expert_feed_forward_length'),
    norm_topk_prob: true,
  }),
};

export const qwen2Moe: GgufArchitecture = {
  modelType: 'qwen2_moe',
  hasExperts: true,
  configKeys: facts => ({
    ...expertKeys(facts, 'qwen2moe'),
    qkv_bias: facts.hasInLayers('attn_q.bias'),
    moe_intermediate_size: facts.fields.count('qwen2moe.expert_feed_forward_length'),
    shared_expert_intermediate_size: facts.fields.count('qwen2moe.expert_shared_feed_forward_length'),
    norm_topk_prob: false,
  }),
};

/** Files of Granite with a shared expert say `granitemoe` too. */
export const graniteMoe: GgufArchitecture = {
  modelType: 'granitemoe',
  permutesHeads: true,
  hasExperts: true,
  configKeys(facts) {
    const sharedSize = facts.fields.wholeNumber('granitemoe.expert_shared_feed_forward_length');
    return {
      ...(sharedSize > 0 && { model_type: 'granitemoeshared', shared_intermediate_size: sharedSize }),
      ...graniteKeys(facts, 'granitemoe'),
      ...expertKeys(facts, 'granitemoe'),
    };
  },
};

export const glm4Moe: GgufArchitecture = {
  modelType: 'glm4_moe',
  hasExperts: true,
  rotatesPart: true,
  modules: { post_attention_layernorm: 'post_attention_norm' },
  configKeys(facts) {
    const { fields, hasInLayers } = facts;
    refuseOtherScores(facts, 'glm4moe');
    return {
      ...expertKeys(facts, 'glm4moe'),
      n_shared_experts: fields.count('glm4moe.expert_shared_count'),
      ...groupKeys(facts, 'glm4moe'),
      moe_intermediate_size: fields.count('glm4moe.expert_feed_forward_length'),
      first_k_dense_replace: fields.wholeNumber('glm4moe.leading_dense_block_count'),
      routed_scaling_factor: fields.optionalNumber('glm4moe.expert_weights_scale') ?? 1,
      norm_topk_prob: fields.flag('glm4moe.expert_weights_norm') ?? false,
      use_qk_norm: hasInLayers('attn_q_norm.weight'),
    };
  },
};

/** Converters derive the size of the shared experts in a way that fits the published models only, so it is read from their number. */
export const ernieMoe: GgufArchitecture = {
  modelType: 'ernie4_5_moe',
  hasExperts: true,
  configKeys(facts) {
    const { fields, hasInLayers } = facts;
    const { num_experts, num_experts_per_tok } = expertKeys(facts, 'ernie4_5-moe');
    return {
      use_bias: hasInLayers('attn_q.bias'),
      moe_num_experts: num_experts,
      moe_k: num_experts_per_tok,
      moe_intermediate_size: fields.count('ernie4_5-moe.expert_feed_forward_length'),
      moe_num_shared_experts: fields.wholeNumber('ernie4_5-moe.expert_shared_count'),
      moe_layer_start_index: fields.wholeNumber('ernie4_5-moe.leading_dense_block_count'),
      moe_layer_interval: fields.count('ernie4_5-moe.interleave_moe_layer_step'),
    };
  },
};

/** The base of the rotation is stretched in the file. */
export const hunyuanMoe: GgufArchitecture = {
  modelType: 'hunyuan_v1_moe',
  hasExperts: true,
  modules: { 'self_attn.query_layernorm': 'attn_q_norm', 'self_attn.key_layernorm': 'attn_k_norm' },
  configKeys(facts) {
    const { fields } = facts;
    const { num_experts, num_experts_per_tok } = expertKeys(facts, 'hunyuan-moe');
    return {
      num_experts,
      moe_topk: num_experts_per_tok,
      moe_intermediate_size: fields.count('hunyuan-moe.expert_feed_forward_length'),
      num_shared_expert: fields.count('hunyuan-moe.expert_shared_count'),
    };
  },
};

/**
 * The limit of the gate, and that the rotation stretches fractions of a frequency, are not in the file: they are those of all published
 * models. Source: transformers, models/gpt_oss/configuration_gpt_oss.py
 */
export const gptOss: GgufArchitecture = {
  modelType: 'gpt_oss',
  hasWindows: true,
  hasExperts: true,
  modules: { post_attention_layernorm: 'post_attention_norm' },
  configKeys(facts) {
    const { fields } = facts;
    const scaling = fields.ropeScaling('gpt-oss');
    return {
      ...expertKeys(facts, 'gpt-oss'),
      intermediate_size: fields.count('gpt-oss.expert_feed_forward_length'),
      sliding_window: fields.count('gpt-oss.attention.sliding_window'),
      swiglu_limit: 7,
      // Without one, as in llama.cpp, in place of the default of config.json.
      rope_scaling: scaling ? { ...scaling, truncate: false } : { rope_type: 'default' },
    };
  },
};
