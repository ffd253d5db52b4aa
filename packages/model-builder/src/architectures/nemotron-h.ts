// Nemotron-H: layers of one kind each, Mamba-2, attention without positions, or an MLP without a gate whose activation is the square of
// ReLU, or experts of that kind beside one that all tokens share. Those of the larger models read a narrower projection.
// Source: transformers, models/nemotron_h/modeling_nemotron_h.py and configuration_nemotron_h.py

import type { Mamba2 } from '../hugging-face/decoder-config.ts';
import type { ExpertsConfig } from '../hugging-face/experts-config.ts';
import type { Architecture, ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { kernelLength, vectorSize } from './layer-kinds.ts';
import { readExperts, sigmoidExperts } from './read-experts.ts';
import { groupsOf, LARGEST_STATE_SIZE, mambaModules, refuseStepLimits } from './read-mamba.ts';

/** Letters of `hybrid_override_pattern`, and names of `layers_block_type`, which older versions of transformers call otherwise. */
const KINDS = {
  M: 'recurrent',
  linear_attention: 'recurrent',
  mamba: 'recurrent',
  '*': 'attention',
  full_attention: 'attention',
  attention: 'attention',
  '-': 'mlp',
  mlp: 'mlp',
  E: 'experts',
  moe: 'experts',
} as const;

type LayerKind = (typeof KINDS)[keyof typeof KINDS];

export const nemotronH: Architecture = {
  modelType: 'nemotron_h',
  names: 'Nemotron-H, Nemotron Nano 2, Nemotron 3',
  defaults: {
    num_key_value_heads: 8,
    head_dim: 128,
    max_position_embeddings: 4096,
    layer_norm_epsilon: 1e-5,
    mlp_hidden_act: 'relu2',
    mamba_hidden_act: 'silu',
    ssm_state_size: 128,
    mamba_num_heads: 128,
    mamba_head_dim: 64,
    n_groups: 8,
    conv_kernel: 4,
    time_step_min: 0.001,
    use_conv_bias: true,
    use_bias: false,
    n_routed_experts: 8,
    topk_group: 1,
    num_experts_per_tok: 2,
    moe_intermediate_size: 7688,
    moe_shared_expert_intermediate_size: 7688,
  },
  // Versions of transformers that write a list of layers do not write their number.
  defaultsFrom: json => {
    const listed = json.layers_block_type ?? json.hybrid_override_pattern ?? json.layer_types;
    return Array.isArray(listed) || typeof listed === 'string' ? { num_hidden_layers: listed.length } : {};
  },
  activations: { relu2: 'relu2' },
  activationKey: 'mlp_hidden_act',
  readsLayerTypes: true,
  read(keys, reader) {
    const kinds = layerKinds(keys, reader);
    const recurrent = readMixer(keys, reader);
    const experts = kinds.includes('experts') ? readOwnExperts(keys, reader) : undefined;
    return {
      experts,
      isGated: false,
      mlpBias: keys.mlp_bias ?? false,
      norm: { kind: 'rms', epsilon: keys.layer_norm_epsilon!, weightOffset: 0, hasBias: false },
      ropes: [],
      layer: index => ({
        rope: undefined,
        window: undefined,
        hasAttention: kinds[index] === 'attention',
        ...(kinds[index] === 'recurrent' ? { recurrent } : {}),
        hasExperts: kinds[index] === 'experts',
        intermediateSize: sizeOf(kinds[index]!, keys),
      }),
      modules: {
        embedding: 'embeddings',
        finalNorm: 'norm_f',
        beforeAttention: 'norm',
        beforeMlp: 'norm',
        query: 'mixer.q_proj',
        key: 'mixer.k_proj',
        value: 'mixer.v_proj',
        attentionOutput: 'mixer.o_proj',
        up: 'mixer.up_proj',
        down: 'mixer.down_proj',
        recurrent: mambaModules('mixer'),
      },
    };
  },
};

function sizeOf(kind: LayerKind, keys: ConfigKeys): number {
  if (kind === 'experts') return keys.moe_shared_expert_intermediate_size!;
  return kind === 'mlp' ? keys.intermediate_size : 0;
}

function readOwnExperts(keys: ConfigKeys, reader: ConfigReader): ExpertsConfig {
  if ((keys.n_shared_experts ?? 1) !== 1) reader.refuse('n_shared_experts', 'must be absent or 1');
  const latentSize = keys.moe_latent_size ?? undefined;
  if (latentSize !== undefined && keys.mlp_bias)
    reader.refuse('mlp_bias', 'must be absent or false beside moe_latent_size');
  return readExperts(keys, reader, {
    countKey: 'n_routed_experts',
    latentSize,
    intermediateSize: keys.moe_intermediate_size!,
    ...sigmoidExperts(keys, reader, 1),
    modules: {
      router: 'mixer.gate',
      selectionBias: 'mixer.gate.e_score_correction_bias',
      matrices: {
        layout: 'single',
        gate: undefined,
        up: 'mixer.experts.*.up_proj',
        down: 'mixer.experts.*.down_proj',
      },
      latent: { into: 'mixer.fc1_latent_proj', from: 'mixer.fc2_latent_proj' },
      shared: {
        gate: undefined,
        up: 'mixer.shared_experts.up_proj',
        gateUp: undefined,
        down: 'mixer.shared_experts.down_proj',
        weight: undefined,
      },
    },
  });
}

function layerKinds(keys: ConfigKeys, reader: ConfigReader): readonly LayerKind[] {
  const pattern = keys.hybrid_override_pattern;
  const [key, names] =
    keys.layers_block_type !== undefined
      ? ['layers_block_type', keys.layers_block_type]
      : pattern !== undefined
        ? ['hybrid_override_pattern', [...pattern]]
        : ['layer_types', keys.layer_types ?? reader.invalid('layers_block_type', 'is missing')];
  if (names.length !== keys.num_hidden_layers)
    reader.invalid(key, `has ${names.length} entries for ${keys.num_hidden_layers} layers`);
  return names.map(name => {
    if (Object.hasOwn(KINDS, name)) return KINDS[name as keyof typeof KINDS];
    return reader.refuse(key, `holds "${name}"; allowed: ${Object.keys(KINDS).join(', ')}`);
  });
}

function readMixer(keys: ConfigKeys, reader: ConfigReader): Mamba2 {
  if (keys.mamba_hidden_act !== 'silu') reader.refuse('mamba_hidden_act', 'must be absent or "silu"');
  refuseStepLimits(keys, reader);
  const headCount = keys.mamba_num_heads!;
  const groupCount = groupsOf('n_groups', keys.n_groups!, headCount, reader);
  return {
    kind: 'mamba-2',
    headCount,
    headSize: vectorSize('mamba_head_dim', keys.mamba_head_dim!, reader),
    groupCount,
    stateSize: vectorSize('ssm_state_size', keys.ssm_state_size!, reader, LARGEST_STATE_SIZE),
    kernel: kernelLength('conv_kernel', keys.conv_kernel!, reader),
    hasConvolutionBias: keys.use_conv_bias!,
    hasBias: keys.use_bias!,
    // Its `time_step_limit` is not read.
    leastStep: keys.time_step_min!,
    norm: { isFirst: false, groupCount },
    inputScales: { values: 1, keys: 1, queries: 1 },
  };
}
