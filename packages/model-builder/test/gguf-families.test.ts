// GGUF files of every family that is read, against the logits that transformers computed for the same weights.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GgufModel, type GgufValue } from '@ortler/gguf';
import type { FieldToWrite } from '@ortler/gguf/testing';
import { describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import {
  DECODER_GOLDENS,
  differenceFromGolden,
  hasExperts,
  hasRecurrentLayers,
  writeGoldenCheckpoint,
} from './decoder-golden.ts';
import { type GgufPlan, writeFamilyGguf } from './family-gguf.ts';
import {
  clampedExperts,
  deltaNet,
  deltaNetByHeads,
  falconH1,
  graniteHybrid,
  LATENT_MODULES,
  latentHeads,
  mamba2,
  sharedGateUp,
} from './gguf-rules.ts';
import { SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SANDWICH = {
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};
const NORMS_BEHIND = {
  post_attention_layernorm: 'post_attention_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};
const OLMO = { architecture: 'olmo2', modules: NORMS_BEHIND };
const EXAONE: GgufPlan = { architecture: 'exaone4', modules: NORMS_BEHIND };
const WINDOW = { 'attention.sliding_window': { uint32: 12 } };
const GEMMA2: GgufPlan = { architecture: 'gemma2', modules: SANDWICH, addsOne: true, queryScalar: 24 };
const GEMMA3: GgufPlan = { ...GEMMA2, architecture: 'gemma3' };
const LLAMA: GgufPlan = { architecture: 'llama', permutes: true };
const YARN = {
  'rope.scaling.type': 'yarn',
  'rope.scaling.factor': { float32: 4 },
  'rope.scaling.original_context_length': { uint32: 32 },
};
const GLM: GgufPlan = {
  architecture: 'glm4',
  modules: { post_self_attn_layernorm: 'post_attention_norm', post_mlp_layernorm: 'post_ffw_norm' },
  fields: { 'rope.dimension_count': { uint32: 16 } },
};
const SEED: GgufPlan = {
  architecture: 'seed_oss',
  modules: { post_attention_layernorm: 'post_attention_norm' },
};
const GRANITE: GgufPlan = {
  architecture: 'granite',
  permutes: true,
  fields: {
    'attention.scale': { float32: 0.4 },
    embedding_scale: { float32: 6 },
    residual_scale: { float32: 0.5 },
    logit_scale: { float32: 0.8 },
  },
};
const NEMOTRON: GgufPlan = {
  architecture: 'nemotron',
  addsOne: true,
  fields: {
    'attention.layer_norm_rms_epsilon': { float32: 1e-5 },
    'rope.scaling.type': 'none',
    'rope.dimension_count': { uint32: 16 },
  },
};
const ARCEE: GgufPlan = { architecture: 'arcee', permutes: true };
const ERNIE: GgufPlan = { architecture: 'ernie4_5' };
const STARCODER: GgufPlan = { architecture: 'starcoder2' };
const MISTRAL3: GgufPlan = { architecture: 'mistral3', permutes: true };
const MINISTRAL3: GgufPlan = {
  ...MISTRAL3,
  fields: {
    'rope.scaling.type': 'yarn',
    'rope.scaling.factor': { float32: 4 },
    'rope.scaling.original_context_length': { uint32: 16 },
    'rope.scaling.yarn_beta_fast': { float32: 32 },
    'rope.scaling.yarn_beta_slow': { float32: 1 },
    'rope.scaling.yarn_log_multiplier': { float32: 1 },
    'attention.temperature_scale': { float32: 0.4 },
  },
};
/** The base of the rotation times alpha to the power of `size / (size - 2)`. */
const STRETCHED = { 'rope.freq_base': { float32: 10_000 * 40 ** (32 / 30) }, 'rope.scaling.type': 'none' };
const PHI: GgufPlan = {
  architecture: 'phi3',
  fields: {
    'attention.sliding_window': { uint32: 0 },
    'rope.scaling.original_context_length': { uint32: 256 },
  },
};
const LONGROPE: GgufPlan = {
  ...PHI,
  fields: {
    ...PHI.fields,
    'rope.scaling.type': 'longrope',
    'rope.scaling.original_context_length': { uint32: 84 },
    'rope.scaling.attn_factor': { float32: Math.sqrt(1 + Math.log(8) / Math.log(84)) },
  },
  vectors: {
    'rope_factors_short.weight': Array.from({ length: 8 }, (_, i) => 1 + 0.05 * i),
    'rope_factors_long.weight': Array.from({ length: 8 }, (_, i) => 1.5 + 0.75 * i),
  },
};
const GEMMA4: GgufPlan = {
  architecture: 'gemma4',
  modules: SANDWICH,
  fields: {
    ...WINDOW,
    'attention.sliding_window_pattern': { booleans: [true, true, false, true, true, false] },
    'attention.key_length': { uint32: 32 },
    'attention.value_length': { uint32: 32 },
    'attention.key_length_swa': { uint32: 16 },
    'attention.value_length_swa': { uint32: 16 },
    'attention.shared_kv_layers': { uint32: 0 },
    embedding_length_per_layer_input: { uint32: 0 },
    'rope.dimension_count': { uint32: 32 },
    'rope.dimension_count_swa': { uint32: 16 },
    'rope.freq_base': { float32: 1_000_000 },
    'rope.freq_base_swa': { float32: 10_000 },
    final_logit_softcapping: { float32: 3 },
  },
  // A quarter of 16 frequencies.
  vectors: { 'rope_freqs.weight': Array.from({ length: 16 }, (_, i) => (i < 4 ? 1 : 1e30)) },
};
const PER_LAYER = { ...GEMMA4.fields, embedding_length_per_layer_input: { uint32: 16 } };
const CAPS = { attn_logit_softcapping: { float32: 2 }, final_logit_softcapping: { float32: 3 } };

function olmo3Windows(isSliding: readonly boolean[]) {
  return {
    ...WINDOW,
    'attention.sliding_window_pattern': { booleans: isSliding },
    'rope.freq_base_swa': { float32: 500_000 },
  };
}

function experts(count: number, chosen: number) {
  return { expert_count: { uint32: count }, expert_used_count: { uint32: chosen } };
}

const LFM2: GgufPlan = {
  architecture: 'lfm2',
  modules: {
    operator_norm: 'attn_norm',
    ffn_norm: 'ffn_norm',
    'self_attn.out_proj': 'attn_output',
    'self_attn.q_layernorm': 'attn_q_norm',
    'self_attn.k_layernorm': 'attn_k_norm',
    'feed_forward.w1': 'ffn_gate',
    'feed_forward.w2': 'ffn_down',
    'feed_forward.w3': 'ffn_up',
    'feed_forward.gate': 'ffn_gate_inp',
    'conv.in_proj': 'shortconv.in_proj',
    'conv.conv': 'shortconv.conv',
    'conv.out_proj': 'shortconv.out_proj',
  },
  fields: {
    'attention.layer_norm_rms_epsilon': { float32: 1e-5 },
    'attention.head_count_kv': { int32s: [0, 0, 2, 0] },
    'shortconv.l_cache': { uint32: 3 },
  },
};
const QWEN35: GgufPlan = {
  architecture: 'qwen35',
  addsOne: true,
  rule: deltaNet,
  modules: { post_attention_layernorm: 'post_attention_norm' },
  fields: {
    'attention.recurrent_layers': { booleans: [true, true, true, false] },
    full_attention_interval: { uint32: 4 },
    'rope.dimension_count': { uint32: 16 },
    'rope.dimension_sections': { int32s: [3, 3, 2, 0] },
    ...deltaSizes(32, 2, 4, 32),
  },
};
const QWEN35MOE: GgufPlan = {
  ...QWEN35,
  architecture: 'qwen35moe',
  fields: {
    ...QWEN35.fields,
    ...experts(12, 3),
    expert_feed_forward_length: { uint32: 40 },
    expert_shared_feed_forward_length: { uint32: 48 },
  },
};
const QWEN2MOE: GgufPlan = {
  architecture: 'qwen2moe',
  fields: {
    ...experts(12, 3),
    expert_feed_forward_length: { uint32: 40 },
    expert_shared_feed_forward_length: { uint32: 80 },
  },
};
const glm = (
  dense: number,
  shared: number,
  scale: number,
  isNormalised: boolean,
  fields: Readonly<Record<string, FieldToWrite>> = {},
): GgufPlan => ({
  architecture: 'glm4moe',
  modules: { post_attention_layernorm: 'post_attention_norm' },
  fields: {
    ...experts(12, 3),
    // The last one predicts further tokens, whether or not the file has it.
    block_count: { uint32: 5 },
    nextn_predict_layers: { uint32: 1 },
    expert_feed_forward_length: { uint32: 40 },
    expert_gating_func: { uint32: 2 },
    expert_group_count: { uint32: 1 },
    expert_group_used_count: { uint32: 1 },
    expert_shared_count: { uint32: shared },
    expert_weights_norm: isNormalised,
    expert_weights_scale: { float32: scale },
    leading_dense_block_count: { uint32: dense },
    'rope.dimension_count': { uint32: 16 },
    ...fields,
  },
});

const UNLIMITED = { context_length: { uint32: 2 ** 20 } };
const GRANITEHYBRID: GgufPlan = {
  ...GRANITE,
  architecture: 'granitehybrid',
  rule: graniteHybrid,
  modules: mixerModules('mamba'),
  fields: {
    ...GRANITE.fields,
    ...UNLIMITED,
    ...deltaSizes(32, 1, 8, 16),
    'attention.head_count_kv': { int32s: [0, 0, 2, 0] },
    'rope.scaling.finetuned': false,
    expert_count: { uint32: 0 },
    expert_used_count: { uint32: 0 },
    expert_shared_feed_forward_length: { uint32: 96 },
  },
};
const FALCONH1: GgufPlan = {
  architecture: 'falcon-h1',
  rule: falconH1,
  modules: {
    ...mixerModules('mamba'),
    'feed_forward.gate_proj': 'ffn_gate',
    'feed_forward.up_proj': 'ffn_up',
    'feed_forward.down_proj': 'ffn_down',
  },
  scales: { 'model.embed_tokens.weight': 5.5, 'lm_head.weight': 0.9 },
  fields: deltaSizes(32, 1, 6, 16),
};
const hunyuanMoe = (chosen: number, fields: Readonly<Record<string, FieldToWrite>>): GgufPlan => ({
  architecture: 'hunyuan-moe',
  fields: {
    ...fields,
    ...experts(12, chosen),
    expert_feed_forward_length: { uint32: 96 },
    expert_shared_count: { uint32: 1 },
    expert_shared_feed_forward_length: { uint32: 96 },
  },
});
const nemotronH = (
  keyHeads: number[],
  mlpSizes: number[],
  sizes: Readonly<Record<string, FieldToWrite>>,
): GgufPlan => ({
  architecture: 'nemotron_h',
  rule: mamba2,
  permutes: true,
  modules: {
    ...mixerModules('mixer'),
    norm: 'attn_norm',
    'mixer.q_proj': 'attn_q',
    'mixer.k_proj': 'attn_k',
    'mixer.v_proj': 'attn_v',
    'mixer.o_proj': 'attn_output',
    'mixer.up_proj': 'ffn_up',
    'mixer.down_proj': 'ffn_down',
  },
  fields: {
    ...UNLIMITED,
    ...sizes,
    'attention.head_count_kv': { int32s: keyHeads },
    feed_forward_length: { int32s: mlpSizes },
    'rope.scaling.finetuned': false,
  },
});

const nemotronMoe = (fields: Readonly<Record<string, FieldToWrite>>): GgufPlan => ({
  ...nemotronH([0, 0, 0, 2, 0, 0], [0, 40, 0, 0, 40, 0], {
    ...deltaSizes(32, 2, 8, 16),
    ...experts(12, 3),
    expert_feed_forward_length: { uint32: 40 },
    expert_group_count: { uint32: 1 },
    expert_group_used_count: { uint32: 1 },
    expert_shared_count: { uint32: 1 },
    expert_shared_feed_forward_length: { uint32: 72 },
    expert_weights_norm: true,
    expert_weights_scale: { float32: 2.5 },
    ...fields,
  }),
  architecture: 'nemotron_h_moe',
});

const deepseek = (
  sizes: { readonly plain: number; readonly rotated: number; readonly values: number; readonly rank: number },
  fields: Readonly<Record<string, FieldToWrite>>,
): GgufPlan => ({
  architecture: 'deepseek2',
  rule: latentHeads,
  modules: LATENT_MODULES,
  fields: {
    ...experts(12, 3),
    expert_feed_forward_length: { uint32: 40 },
    expert_shared_count: { uint32: 1 },
    expert_weights_scale: { float32: 1.5 },
    leading_dense_block_count: { uint32: 1 },
    'attention.head_count_kv': { uint32: 1 },
    'attention.kv_lora_rank': { uint32: sizes.rank },
    'attention.key_length': { uint32: sizes.rank + sizes.rotated },
    'attention.value_length': { uint32: sizes.rank },
    'attention.key_length_mla': { uint32: sizes.plain + sizes.rotated },
    'attention.value_length_mla': { uint32: sizes.values },
    'rope.dimension_count': { uint32: sizes.rotated },
    ...fields,
  },
});
const LATENT_SIZES = { plain: 16, rotated: 16, values: 16, rank: 32 };
const GROUPS = groupsOf(4);
const QUERY_RANK = { 'attention.q_lora_rank': { uint32: 24 } };

function groupsOf(count: number): Readonly<Record<string, FieldToWrite>> {
  return { expert_group_count: { uint32: count }, expert_group_used_count: { uint32: 2 } };
}

function mixerModules(module: string): Readonly<Record<string, string>> {
  return {
    [`${module}.in_proj`]: 'ssm_in',
    [`${module}.conv1d`]: 'ssm_conv1d',
    [`${module}.out_proj`]: 'ssm_out',
  };
}

function deltaSizes(keySize: number, keyHeads: number, valueHeads: number, valueSize: number) {
  return {
    'ssm.conv_kernel': { uint32: 4 },
    'ssm.state_size': { uint32: keySize },
    'ssm.group_count': { uint32: keyHeads },
    'ssm.time_step_rank': { uint32: valueHeads },
    'ssm.inner_size': { uint32: valueHeads * valueSize },
  };
}

/** By `model_type` and name of the golden. */
const PLANS: Readonly<Record<string, Readonly<Record<string, GgufPlan>>>> = {
  deepseek_v2: {
    'latent queries, groups of experts': deepseek(LATENT_SIZES, {
      ...GROUPS,
      expert_shared_count: { uint32: 2 },
      'attention.q_lora_rank': { uint32: 40 },
    }),
    'experts in all layers, other sizes of heads': deepseek(
      { plain: 40, rotated: 32, values: 48, rank: 80 },
      { expert_shared_count: { uint32: 2 }, leading_dense_block_count: { uint32: 0 } },
    ),
  },
  deepseek_v3: {
    'groups of experts by sigmoids with a bias, yarn': deepseek(LATENT_SIZES, {
      ...GROUPS,
      ...QUERY_RANK,
      expert_weights_norm: true,
      'rope.scaling.type': 'yarn',
      'rope.scaling.factor': { float32: 8 },
      'rope.scaling.original_context_length': { uint32: 16 },
      'rope.scaling.yarn_log_multiplier': { float32: 0.1 * 0.9 },
    }),
    'scores as they are, tied, three shared experts': deepseek(LATENT_SIZES, {
      ...GROUPS,
      ...QUERY_RANK,
      expert_gating_func: { uint32: 2 },
      expert_shared_count: { uint32: 3 },
      leading_dense_block_count: { uint32: 2 },
    }),
  },
  glm4_moe_lite: {
    'an ordinary first layer': {
      ...deepseek(
        { ...LATENT_SIZES, plain: 48, values: 64 },
        {
          ...QUERY_RANK,
          expert_weights_norm: true,
          expert_group_count: { uint32: 1 },
          expert_group_used_count: { uint32: 1 },
        },
      ),
      modelType: 'deepseek_v3',
    },
  },
  gemma: {
    tied: { architecture: 'gemma', addsOne: true },
    'one key head, biases': { architecture: 'gemma', addsOne: true },
  },
  gemma2: { 'windows in every second layer, both caps': { ...GEMMA2, fields: { ...WINDOW, ...CAPS } } },
  gemma3_text: {
    'window but every sixth layer': { ...GEMMA3, fields: WINDOW },
    'linear rope scaling of full layers': {
      ...GEMMA3,
      fields: {
        ...WINDOW,
        'attention.sliding_window_pattern': { uint32: 3 },
        'rope.scaling.type': 'linear',
        'rope.scaling.factor': { float32: 8 },
      },
    },
    'both caps, biases': {
      ...GEMMA3,
      fields: { ...WINDOW, final_logit_softcapping: CAPS.final_logit_softcapping },
    },
  },
  gemma4_text: {
    'dense, wide heads in full layers': GEMMA4,
    'dense, values are keys in full layers': {
      ...GEMMA4,
      fields: { ...GEMMA4.fields, 'attention.head_count_kv': { int32s: [2, 2, 1, 2, 2, 1] } },
    },
    'per-layer inputs': { ...GEMMA4, fields: PER_LAYER },
    'per-layer inputs, keys and values of earlier layers, wide feed-forward there': {
      ...GEMMA4,
      fields: {
        ...PER_LAYER,
        'attention.shared_kv_layers': { uint32: 3 },
        feed_forward_length: { int32s: [96, 96, 96, 192, 192, 192] },
      },
    },
  },
  llama: {
    'separate head': LLAMA,
    'biases everywhere, one key head': LLAMA,
    'yarn rope scaling': { ...LLAMA, fields: YARN },
  },
  mistral: {
    'no window, heads narrower than hidden size over heads': LLAMA,
    'yarn rope scaling': { ...MISTRAL3, fields: YARN },
  },
  olmo2: { 'separate head': OLMO, 'tied, all heads have keys': OLMO },
  olmo3: {
    'windows but every fourth layer': { ...OLMO, fields: olmo3Windows([true, true, true, false]) },
    // As it was written before there was a key for the base of windows.
    'yarn in full layers': {
      ...OLMO,
      fields: {
        ...WINDOW,
        ...YARN,
        'attention.sliding_window_pattern': { booleans: [true, true, true, false] },
      },
      unlikeConverter: ['rope.freq_base_swa'],
    },
    'layer types, tied': { ...OLMO, fields: olmo3Windows([false, true, false, true]) },
  },
  phi3: {
    plain: PHI,
    'tied, all heads have keys': PHI,
    'rotation of three quarters': {
      ...PHI,
      fields: { ...PHI.fields, 'rope.dimension_count': { uint32: 48 } },
    },
    window: { ...PHI, fields: { ...PHI.fields, ...WINDOW } },
    'longrope, short and long prompts': LONGROPE,
    'longrope, window': { ...LONGROPE, fields: { ...LONGROPE.fields, ...WINDOW } },
  },
  qwen2: {
    'separate head': { architecture: 'qwen2' },
    tied: { architecture: 'qwen2' },
    'yarn rope scaling': { architecture: 'qwen2', fields: YARN },
  },
  qwen3: {
    'separate head': { architecture: 'qwen3' },
    biases: { architecture: 'qwen3' },
    'yarn rope scaling': { architecture: 'qwen3', fields: YARN },
  },
  granite: {
    'four multipliers': GRANITE,
    'tied, biases': GRANITE,
    'multipliers of one': {
      ...GRANITE,
      fields: {
        'attention.scale': { float32: 0.25 },
        embedding_scale: { float32: 1 },
        residual_scale: { float32: 1 },
        logit_scale: { float32: 1 },
      },
    },
  },
  smollm3: { 'no rotation in every fourth layer': { architecture: 'smollm3', permutes: true } },
  exaone4: {
    'windows, nothing is rotated in every fourth layer': {
      ...EXAONE,
      fields: { ...WINDOW, 'attention.sliding_window_pattern': { booleans: [true, true, true, false] } },
    },
    'no windows, tied': EXAONE,
  },
  ernie4_5: { tied: ERNIE, 'biases, separate head': ERNIE },
  ernie4_5_moe: {
    'softmax with a bias, an ordinary first layer, two shared experts': {
      architecture: 'ernie4_5-moe',
      fields: {
        ...experts(12, 3),
        expert_feed_forward_length: { uint32: 40 },
        expert_shared_count: { uint32: 2 },
        // Half of the ordinary MLP, for two heads of keys.
        expert_shared_feed_forward_length: { uint32: 48 },
        interleave_moe_layer_step: { uint32: 1 },
        leading_dense_block_count: { uint32: 1 },
      },
    },
  },
  hunyuan_v1_dense: {
    'stretched rope base': { architecture: 'hunyuan-dense', fields: STRETCHED },
    'tied, biases, no scaling': { architecture: 'hunyuan-dense' },
  },
  hunyuan_v1_moe: {
    'a shared expert, stretched rope base': hunyuanMoe(3, STRETCHED),
    'numbers for each layer, biases, tied': hunyuanMoe(2, {}),
  },
  glm4: {
    'biases, half of each head is rotated': GLM,
    'no biases, tied': GLM,
    'whole heads are rotated': { ...GLM, fields: { 'rope.dimension_count': { uint32: 32 } } },
  },
  seed_oss: {
    'biases on queries, keys and values': SEED,
    'biases everywhere, tied': SEED,
    'no biases': SEED,
  },
  arcee: { 'squared relu': ARCEE, 'biases, tied': ARCEE, 'yarn rope scaling': { ...ARCEE, fields: YARN } },
  nemotron: { 'heads as wide as the hidden size over their number': NEMOTRON },
  starcoder2: { 'tied, biases': STARCODER, 'no biases': STARCODER },
  mixtral: { 'two of six experts': { ...LLAMA, fields: experts(6, 2) } },
  olmoe: {
    'scores of all experts': { architecture: 'olmoe', fields: experts(16, 4) },
    'all experts, tied': { architecture: 'olmoe', fields: experts(4, 4) },
  },
  qwen3_moe: {
    'scores of the chosen experts': {
      architecture: 'qwen3moe',
      fields: { ...experts(12, 3), expert_feed_forward_length: { uint32: 40 } },
    },
  },
  granitemoe: {
    'stacked experts, four multipliers': {
      ...GRANITE,
      architecture: 'granitemoe',
      fields: { ...GRANITE.fields, ...experts(8, 3) },
    },
  },
  ministral3: { 'separate head': MINISTRAL3, tied: MINISTRAL3 },
  cohere2: {
    'windows but every fourth layer': {
      architecture: 'cohere2',
      fields: { ...WINDOW, logit_scale: { float32: 0.75 } },
    },
  },
  granitemoeshared: {
    'an expert that all tokens share': {
      ...GRANITE,
      architecture: 'granitemoe',
      rule: sharedGateUp,
      fields: {
        ...GRANITE.fields,
        ...experts(8, 3),
        expert_shared_feed_forward_length: { uint32: 48 },
      },
    },
  },
  qwen2_moe: {
    'scores of all experts, a shared expert': QWEN2MOE,
  },
  glm4_moe: {
    'sigmoids with a bias, an ordinary first layer': glm(1, 1, 1.5, true),
    'norms of heads, two shared experts, no biases': glm(0, 2, 1.5, true),
    'scores as they are, tied': glm(1, 1, 1, false),
    'groups of experts': glm(1, 1, 1.5, true, groupsOf(4)),
  },
  lfm2: {
    tied: LFM2,
    'adjusted intermediate size': LFM2,
    'attention last, layers by their index': {
      ...LFM2,
      fields: { ...LFM2.fields, 'attention.head_count_kv': { int32s: [0, 2, 0, 2] } },
    },
  },
  lfm2_moe: {
    'sigmoids with a bias, tied': {
      ...LFM2,
      architecture: 'lfm2moe',
      fields: {
        ...LFM2.fields,
        ...experts(12, 3),
        expert_feed_forward_length: { uint32: 40 },
        expert_gating_func: { uint32: 2 },
        leading_dense_block_count: { uint32: 1 },
      },
    },
  },
  qwen3_5_text: {
    'separate head': QWEN35,
    'tied, as many heads of keys as of values': {
      ...QWEN35,
      fields: { ...QWEN35.fields, ...deltaSizes(32, 4, 4, 32) },
    },
    'heads of different sizes, biases, attention first': {
      ...QWEN35,
      fields: {
        ...QWEN35.fields,
        ...deltaSizes(16, 2, 4, 48),
        'attention.recurrent_layers': { booleans: [false, true, false, true] },
      },
    },
  },
  qwen3_5_moe_text: {
    'separate head': QWEN35MOE,
    'attention in every second layer, biases, heads of different sizes': {
      ...QWEN35MOE,
      fields: {
        ...QWEN35MOE.fields,
        ...deltaSizes(16, 2, 4, 48),
        'attention.recurrent_layers': { booleans: [true, false, true, false] },
      },
    },
  },
  qwen3_next: {
    'separate head': {
      ...QWEN35MOE,
      architecture: 'qwen3next',
      rule: deltaNetByHeads,
      fields: {
        'attention.recurrent_layers': { booleans: [true, true, true, false] },
        full_attention_interval: { uint32: 4 },
        'rope.dimension_count': { uint32: 16 },
        ...deltaSizes(32, 2, 4, 32),
        ...experts(12, 3),
        expert_feed_forward_length: { uint32: 40 },
        expert_shared_feed_forward_length: { uint32: 48 },
      },
    },
  },
  granitemoehybrid: {
    'dense, tied': GRANITEHYBRID,
    'experts and a shared MLP': {
      ...GRANITEHYBRID,
      fields: { ...GRANITEHYBRID.fields, ...experts(8, 3) },
    },
  },
  falcon_h1: {
    'gate alone, all multipliers': FALCONH1,
    'norm behind the gate, width by the factor, no multipliers': {
      ...FALCONH1,
      fields: deltaSizes(32, 1, 4, 32),
    },
  },
  nemotron_h: {
    'separate head, Mamba-2 last': nemotronH(
      [0, 0, 0, 2, 0, 0],
      [0, 96, 0, 0, 96, 0],
      deltaSizes(32, 2, 8, 16),
    ),
    'MLP first and last, biases, one group': nemotronH(
      [0, 0, 0, 2, 0, 0],
      [96, 0, 0, 0, 0, 96],
      deltaSizes(32, 1, 8, 16),
    ),
    'attention last, heads of 48': nemotronH([0, 0, 0, 0, 2], [0, 96, 0, 96, 0], deltaSizes(32, 2, 4, 48)),
    'experts by sigmoids with a bias, a shared one': nemotronMoe({}),
    'experts of a latent size': nemotronMoe({ moe_latent_size: { uint32: 48 } }),
    'groups of experts': nemotronMoe(groupsOf(3)),
  },
  gpt_oss: {
    'limit of the published models': {
      architecture: 'gpt-oss',
      rule: clampedExperts,
      modules: { post_attention_layernorm: 'post_attention_norm' },
      fields: {
        ...WINDOW,
        ...experts(8, 3),
        expert_feed_forward_length: { uint32: 48 },
        'rope.scaling.type': 'yarn',
        'rope.scaling.factor': { float32: 32 },
        'rope.scaling.original_context_length': { uint32: 16 },
        'rope.scaling.yarn_beta_fast': { float32: 32 },
        'rope.scaling.yarn_beta_slow': { float32: 1 },
      },
    },
  },
};

const folder = temporaryFolder();

/** What llama.cpp's converter makes of the same weights: `golden/make_gguf_goldens.py`. */
const CONVERTED = (
  JSON.parse(readFileSync(new URL('./golden/gguf-converter.json', import.meta.url), 'utf8')) as {
    readonly families: Readonly<Record<string, Readonly<Record<string, Converted>>>>;
  }
).families;

interface Converted {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** SHA-256 over names, dimensions and values of all tensors. */
  readonly tensors: string;
}

/** Keys that say again what others do. */
const SAID_ELSEWHERE = ['vocab_size', 'rope.dimension_count'];

describe('files that a converter writes', () => {
  const both = Object.entries(PLANS).flatMap(([family, plans]) =>
    Object.entries(plans).flatMap(([name, plan]) => {
      const converted = CONVERTED[family]?.[name];
      const isSame = converted?.metadata['general.architecture'] === plan.architecture;
      return isSame ? [{ family, name, plan, converted }] : [];
    }),
  );

  it('are there for every family whose converter takes small models', () => {
    const found = new Set(both.map(({ family }) => family));
    expect(Object.keys(CONVERTED).filter(family => !found.has(family))).toEqual([]);
  });

  it.each(both)('$family: $name', async ({ family, name, plan, converted }) => {
    const golden = DECODER_GOLDENS.find(each => each.family === family)!.cases.find(
      each => each.name === name,
    )!;
    const place = join(folder, family, name, 'planned');
    await mkdir(place, { recursive: true });
    const model = await GgufModel.open(await writeFamilyGguf(place, golden, plan));
    expect(await hashOfTensors(model)).toBe(converted.tensors);
    await model.close();
    for (const [key, value] of Object.entries(converted.metadata)) {
      const own = model.metadata.get(key);
      const shortKey = key.slice(plan.architecture.length + 1);
      if (plan.unlikeConverter?.includes(shortKey)) expect(own, key).not.toEqual(value);
      else if (own !== undefined || !SAID_ELSEWHERE.includes(shortKey))
        expect(plain(own), key).toEqual(value);
    }
  });
});

it.each(['gguf', 'safetensors'] as const)(
  'leaves out keys and values of layers that attend to those of others: %s',
  async format => {
    const { cases, logitStride } = DECODER_GOLDENS.find(each => each.family === 'gemma4_text')!;
    const golden = cases.find(each => Number(each.config.num_kv_shared_layers ?? 0) > 0)!;
    const last = `model.layers.${Number(golden.config.num_hidden_layers) - 1}`;
    const first = Object.entries(golden.tensors).filter(([name]) =>
      /^model\.layers\.0\..*\.[kv]_/.test(name),
    );
    const unread = Object.fromEntries(
      first.map(([name, tensor]) => [name.replace('model.layers.0', last), tensor]),
    );
    expect(Object.keys(unread)).toHaveLength(3);
    const whole = { ...golden, tensors: { ...golden.tensors, ...unread } };
    const place = join(folder, `unread-${format}`);
    await mkdir(place, { recursive: true });
    if (format === 'safetensors') await writeGoldenCheckpoint(place, whole);
    const plan = PLANS.gemma4_text![golden.name]!;
    const sourceDir = format === 'gguf' ? await writeFamilyGguf(place, whole, plan) : place;
    const outputDir = join(place, 'built');
    await buildModel({ sourceDir, outputDir, precision: 'f32', variant: 'kernels' });
    const session = await SlotsSession.open(outputDir, { capacity: 384 });
    const prompt = golden.prompts[0]!;
    const rows = await session.run([prompt.tokens], [0]);
    await session.close();
    expect(differenceFromGolden(rows, prompt, logitStride)).toBeLessThan(1e-4);
  },
);

it('refuses Nemotron with heads of another width, for which converters write a wrong rotated part', async () => {
  const { cases } = DECODER_GOLDENS.find(each => each.family === 'nemotron')!;
  const sourceDir = await writeFamilyGguf(folder, cases[1]!, NEMOTRON);
  const build = buildModel({ sourceDir, outputDir: join(folder, 'refused'), precision: 'f32' });
  await expect(build).rejects.toMatchObject({ code: 'unsupported', key: 'nemotron.attention.key_length' });
});

/** As JSON has it. */
function plain(value: GgufValue | undefined): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value;
}

async function hashOfTensors(model: GgufModel): Promise<string> {
  const hash = createHash('sha256');
  for (const name of model.tensorNames.toSorted()) {
    const { dimensions } = model.tensor(name)!;
    hash.update(`${name} ${dimensions}\n`);
    const count = dimensions.reduce((product, size) => product * size, 1);
    hash.update(await model.readBytes(name, 0, count));
  }
  return hash.digest('hex');
}

describe.each(Object.entries(PLANS))('%s', (family, plans) => {
  const { cases, logitStride } = DECODER_GOLDENS.find(golden => golden.family === family)!;

  it.each(Object.entries(plans))('%s: every logit is within 1e-4 of transformers', async (name, plan) => {
    const golden = cases.find(each => each.name === name)!;
    const place = join(folder, family, name);
    await mkdir(place, { recursive: true });
    const sourceDir = await writeFamilyGguf(place, golden, plan);
    const outputDir = join(place, 'built');
    // Mixtures of experts and recurrent layers are for the kernels only.
    const variant = hasExperts(golden) || hasRecurrentLayers(golden) ? 'kernels' : 'slots';
    const { modelType, longRope } = await buildModel({ sourceDir, outputDir, precision: 'f32', variant });
    const plain = plan.architecture === 'llama' && variant === 'slots' ? 'llama' : family;
    expect(modelType).toBe(plan.modelType ?? plain);
    for (const prompt of golden.prompts) {
      const contextLength = longRope?.originalContextLength ?? 0;
      const isShort = prompt.tokens.length <= contextLength;
      const model = isShort ? join(place, 'short') : outputDir;
      if (isShort)
        await buildModel({ sourceDir, outputDir: model, precision: 'f32', variant, contextLength });
      const session = await SlotsSession.open(model, { capacity: 384 });
      const rows = await session.run([prompt.tokens], [0]);
      await session.close();
      expect(differenceFromGolden(rows, prompt, logitStride), `${prompt.tokens.length} tokens`).toBeLessThan(
        1e-4,
      );
    }
  });
});
