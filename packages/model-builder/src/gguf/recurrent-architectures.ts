// GGUF files of models with recurrent layers in place of attention: LFM2 and Qwen 3.5, dense and with
// experts, and Qwen3-Next.
// Source: llama.cpp, conversion/lfm2.py and conversion/qwen.py; src/models/lfm2.cpp, qwen35.cpp and qwen35moe.cpp

import { expertKeys, refuseOtherScores } from './expert-keys.ts';
import type { GgufArchitecture, GgufFacts } from './gguf-architecture.ts';

const LFM2_MODULES = {
  operator_norm: 'attn_norm',
  ffn_norm: 'ffn_norm',
  'self_attn.out_proj': 'attn_output',
  'self_attn.q_layernorm': 'attn_q_norm',
  'self_attn.k_layernorm': 'attn_k_norm',
  'feed_forward.w1': 'ffn_gate',
  'feed_forward.w2': 'ffn_down',
  'feed_forward.w3': 'ffn_up',
  'conv.in_proj': 'shortconv.in_proj',
  'conv.conv': 'shortconv.conv',
  'conv.out_proj': 'shortconv.out_proj',
} as const;

function lfm2Keys({ fields, hasInLayers }: GgufFacts, architecture: string) {
  // Layers without keys are convolutions.
  const keyHeads = fields.numbersOfLayers(`${architecture}.attention.head_count_kv`);
  return {
    norm_eps: fields.number(`${architecture}.attention.layer_norm_rms_epsilon`),
    intermediate_size: fields.count(`${architecture}.feed_forward_length`),
    block_auto_adjust_ff_dim: false,
    num_key_value_heads: Math.max(...keyHeads),
    layer_types: keyHeads.map(count => (count > 0 ? 'full_attention' : 'conv')),
    conv_L_cache: fields.count(`${architecture}.shortconv.l_cache`),
    conv_bias: hasInLayers('shortconv.conv.bias'),
  };
}

export const lfm2: GgufArchitecture = {
  modelType: 'lfm2',
  layersDiffer: true,
  modules: LFM2_MODULES,
  configKeys: facts => lfm2Keys(facts, 'lfm2'),
};

export const lfm2Moe: GgufArchitecture = {
  modelType: 'lfm2_moe',
  layersDiffer: true,
  hasExperts: true,
  modules: LFM2_MODULES,
  configKeys(facts) {
    const { fields, hasInLayers } = facts;
    refuseOtherScores(facts, 'lfm2moe');
    return {
      ...lfm2Keys(facts, 'lfm2moe'),
      ...expertKeys(facts, 'lfm2moe'),
      moe_intermediate_size: fields.count('lfm2moe.expert_feed_forward_length'),
      num_dense_layers: fields.wholeNumber('lfm2moe.leading_dense_block_count'),
      use_expert_bias: hasInLayers('exp_probs_b.bias'),
      norm_topk_prob: true,
    };
  },
};

const QWEN_MODULES = {
  post_attention_layernorm: 'post_attention_norm',
  'linear_attn.in_proj_qkv': 'attn_qkv',
  'linear_attn.in_proj_z': 'attn_gate',
  'linear_attn.in_proj_b': 'ssm_beta',
  'linear_attn.in_proj_a': 'ssm_alpha',
  'linear_attn.conv1d': 'ssm_conv1d',
  'linear_attn.norm': 'ssm_norm',
  'linear_attn.out_proj': 'ssm_out',
} as const;

function qwenKeys({ fields }: GgufFacts, architecture: string) {
  const size = (name: string) => fields.count(`${architecture}.ssm.${name}`);
  const valueHeads = size('time_step_rank');
  const values = size('inner_size');
  if (values % valueHeads !== 0)
    fields.refuse(`${architecture}.ssm.inner_size`, `is ${values}; it must be a multiple of ${valueHeads}`);
  const layerCount =
    fields.count(`${architecture}.block_count`) - fields.wholeNumber(`${architecture}.nextn_predict_layers`);
  const recurrent = fields.flags(`${architecture}.attention.recurrent_layers`)?.slice(0, layerCount);
  return {
    linear_conv_kernel_dim: size('conv_kernel'),
    linear_key_head_dim: size('state_size'),
    linear_num_key_heads: size('group_count'),
    linear_num_value_heads: valueHeads,
    linear_value_head_dim: values / valueHeads,
    full_attention_interval: fields.optionalCount(`${architecture}.full_attention_interval`) ?? 4,
    ...(recurrent && {
      layer_types: recurrent.map(isRecurrent => (isRecurrent ? 'linear_attention' : 'full_attention')),
    }),
  };
}

export const qwen35: GgufArchitecture = {
  modelType: 'qwen3_5_text',
  rotatesPart: true,
  hasSections: true,
  turnsKeyHeads: true,
  modules: QWEN_MODULES,
  configKeys: facts => qwenKeys(facts, 'qwen35'),
};

export const qwen3Next: GgufArchitecture = {
  modelType: 'qwen3_next',
  rotatesPart: true,
  hasExperts: true,
  hasNoMlp: true,
  splitsInputGate: true,
  modules: { ...QWEN_MODULES, 'linear_attn.in_proj_ba': 'ssm_ba' },
  configKeys: facts => qwenMoeKeys(facts, 'qwen3next'),
};

export const qwen35Moe: GgufArchitecture = {
  modelType: 'qwen3_5_moe_text',
  rotatesPart: true,
  hasSections: true,
  turnsKeyHeads: true,
  hasExperts: true,
  hasNoMlp: true,
  modules: QWEN_MODULES,
  configKeys: facts => qwenMoeKeys(facts, 'qwen35moe'),
};

function qwenMoeKeys(facts: GgufFacts, architecture: string) {
  const size = (name: string) => facts.fields.count(`${architecture}.${name}`);
  return {
    ...qwenKeys(facts, architecture),
    ...expertKeys(facts, architecture),
    intermediate_size: size('expert_feed_forward_length'),
    moe_intermediate_size: size('expert_feed_forward_length'),
    shared_expert_intermediate_size: size('expert_shared_feed_forward_length'),
  };
}
