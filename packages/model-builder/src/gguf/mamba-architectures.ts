// GGUF files of models with Mamba-2: Granite 4 H, Falcon-H1 and Nemotron-H, with experts too.
// Source: llama.cpp, conversion/mamba.py, granite.py, falcon_h1.py and nemotron.py; src/models/granite-hybrid.cpp, falcon-h1.cpp and
// nemotron-h.cpp

import { expertKeys, groupKeys } from './expert-keys.ts';
import type { GgufArchitecture, GgufFacts } from './gguf-architecture.ts';
import { graniteKeys } from './granite-keys.ts';

function mixerModules(module: string): Readonly<Record<string, string>> {
  return {
    [`${module}.in_proj`]: 'ssm_in',
    [`${module}.conv1d`]: 'ssm_conv1d',
    [`${module}.norm`]: 'ssm_norm',
    [`${module}.out_proj`]: 'ssm_out',
  };
}

/** The keys that begin with `mamba_`, but for the width. */
function mambaKeys({ fields, hasInLayers }: GgufFacts, architecture: string) {
  return {
    mamba_n_heads: fields.count(`${architecture}.ssm.time_step_rank`),
    mamba_d_state: fields.count(`${architecture}.ssm.state_size`),
    mamba_n_groups: fields.count(`${architecture}.ssm.group_count`),
    mamba_d_conv: fields.count(`${architecture}.ssm.conv_kernel`),
    mamba_conv_bias: hasInLayers('ssm_conv1d.bias'),
    mamba_proj_bias: hasInLayers('ssm_in.bias'),
  };
}

export const graniteHybrid: GgufArchitecture = {
  modelType: 'granitemoehybrid',
  layersDiffer: true,
  hasExperts: true,
  splitsGateUp: true,
  permutesHeads: true,
  modules: mixerModules('mamba'),
  configKeys(facts) {
    const { fields, hiddenSize } = facts;
    const keyHeads = fields.numbersOfLayers('granitehybrid.attention.head_count_kv');
    const hasExperts = fields.wholeNumber('granitehybrid.expert_count') > 0;
    return {
      ...graniteKeys(facts, 'granitehybrid'),
      ...mambaKeys(facts, 'granitehybrid'),
      ...(hasExperts ? expertKeys(facts, 'granitehybrid') : { num_local_experts: 0 }),
      mamba_expand: fields.count('granitehybrid.ssm.inner_size') / hiddenSize,
      intermediate_size: fields.count('granitehybrid.feed_forward_length'),
      shared_intermediate_size: fields.count('granitehybrid.expert_shared_feed_forward_length'),
      num_key_value_heads: Math.max(1, ...keyHeads),
      layer_types: keyHeads.map(count => (count > 0 ? 'attention' : 'mamba')),
      position_embedding_type:
        fields.flag('granitehybrid.rope.scaling.finetuned') === false ? 'nope' : 'rope',
    };
  },
};

/** Converters multiply all factors into the weights. llama.cpp normalises after the gate, as all published models do. */
export const falconH1: GgufArchitecture = {
  modelType: 'falcon_h1',
  modules: {
    ...mixerModules('mamba'),
    'feed_forward.gate_proj': 'ffn_gate',
    'feed_forward.up_proj': 'ffn_up',
    'feed_forward.down_proj': 'ffn_down',
  },
  configKeys(facts) {
    const { fields, has, hasInLayers } = facts;
    if (!has('output.weight'))
      fields.refuse(
        'general.architecture',
        'is "falcon-h1" without the tensor "output.weight": the factor of the embedding is in its values, so it is not an output matrix',
      );
    return {
      ...mambaKeys(facts, 'falcon-h1'),
      mamba_d_ssm: fields.count('falcon-h1.ssm.inner_size'),
      mamba_rms_norm: hasInLayers('ssm_norm.weight'),
      mamba_norm_before_gate: false,
    };
  },
};

const NEMOTRON_H = {
  modelType: 'nemotron_h',
  layersDiffer: true,
  // Nothing is rotated, and converters write a size that is not that of a head.
  rotatesPart: true,
  permutesHeads: true,
  layerNormKey: 'layer_norm_epsilon',
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
} as const satisfies GgufArchitecture;

/**
 * `mlp`: the kind of layers that have an MLP size. Layers with keys and values have attention, all others are
 * recurrent.
 */
function nemotronKeys({ fields, hasInLayers }: GgufFacts, architecture: string, mlp: 'mlp' | 'moe') {
  const keyHeads = fields.numbersOfLayers(`${architecture}.attention.head_count_kv`);
  const mlpSizes = fields.numbersOfLayers(`${architecture}.feed_forward_length`);
  if (mlpSizes.length !== keyHeads.length)
    fields.invalid(
      `${architecture}.feed_forward_length`,
      `has ${mlpSizes.length} entries for ${keyHeads.length} layers`,
    );
  const layerCount = keyHeads.length - fields.wholeNumber(`${architecture}.nextn_predict_layers`);
  const headCount = fields.count(`${architecture}.ssm.time_step_rank`);
  return {
    num_key_value_heads: Math.max(1, ...keyHeads),
    intermediate_size: Math.max(1, ...mlpSizes),
    layers_block_type: keyHeads
      .slice(0, layerCount)
      .map((heads, layer) => (heads > 0 ? 'attention' : mlpSizes[layer] !== 0 ? mlp : 'mamba')),
    mamba_num_heads: headCount,
    mamba_head_dim: fields.count(`${architecture}.ssm.inner_size`) / headCount,
    ssm_state_size: fields.count(`${architecture}.ssm.state_size`),
    n_groups: fields.count(`${architecture}.ssm.group_count`),
    conv_kernel: fields.count(`${architecture}.ssm.conv_kernel`),
    use_conv_bias: hasInLayers('ssm_conv1d.bias'),
    use_bias: hasInLayers('ssm_in.bias'),
    mlp_bias: hasInLayers('ffn_up.bias'),
  };
}

export const nemotronH: GgufArchitecture = {
  ...NEMOTRON_H,
  configKeys: facts => nemotronKeys(facts, 'nemotron_h', 'mlp'),
};

export const nemotronHMoe: GgufArchitecture = {
  ...NEMOTRON_H,
  hasExperts: true,
  configKeys(facts) {
    const { fields } = facts;
    const latent = fields.optionalCount('nemotron_h_moe.moe_latent_size');
    return {
      ...nemotronKeys(facts, 'nemotron_h_moe', 'moe'),
      ...expertKeys(facts, 'nemotron_h_moe'),
      n_shared_experts: fields.count('nemotron_h_moe.expert_shared_count'),
      ...groupKeys(facts, 'nemotron_h_moe'),
      moe_intermediate_size: fields.count('nemotron_h_moe.expert_feed_forward_length'),
      moe_shared_expert_intermediate_size: fields.count('nemotron_h_moe.expert_shared_feed_forward_length'),
      ...(latent !== undefined && { moe_latent_size: latent }),
      routed_scaling_factor: fields.optionalNumber('nemotron_h_moe.expert_weights_scale') ?? 1,
      norm_topk_prob: fields.flag('nemotron_h_moe.expert_weights_norm') ?? false,
    };
  },
};
