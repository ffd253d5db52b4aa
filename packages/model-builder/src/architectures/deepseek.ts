// DeepSeek-V2 and V3, and models with their layers: latent attention, and after ordinary first layers experts with some that all
// tokens share. V2 chooses experts by softmax scores, V3 by sigmoids with a bias; both may choose groups of experts first. Layers that
// predict further tokens are left out.
// Source: transformers, models/deepseek_v2 and models/deepseek_v3; DeepSeek's own code for the keys that transformers does not read

import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { type ExpertsConfig, SHARED_EXPERT_MODULES } from '../hugging-face/experts-config.ts';
import type { Architecture, ConfigReader, DecoderFeatures } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { expertsAfterFirst, mixtureLayers, readExperts, readGroups, sigmoidExperts } from './read-experts.ts';
import { latentHeads, readLatent } from './read-latent.ts';

const LATENT_SIZES = {
  kv_lora_rank: 512,
  q_lora_rank: 1536,
  qk_nope_head_dim: 128,
  qk_rope_head_dim: 64,
  v_head_dim: 128,
  rms_norm_eps: 1e-6,
} as const;

export const deepseekV2: Architecture = {
  modelType: 'deepseek_v2',
  names: 'DeepSeek-V2 and V2-Lite, Coder',
  defaults: {
    ...LATENT_SIZES,
    n_routed_experts: 64,
    n_shared_experts: 2,
    moe_intermediate_size: 1407,
    first_k_dense_replace: 0,
  },
  cachedHeads: latentHeads,
  read(keys, reader) {
    const method = keys.topk_method ?? 'greedy';
    const isGrouped = method === 'group_limited_greedy';
    if (!isGrouped && method !== 'greedy')
      reader.refuse('topk_method', `is "${method}"; allowed: "greedy", "group_limited_greedy"`);
    refuseOther(keys, reader, 'softmax');
    // DeepSeek's own code normalises then, and transformers does not.
    if (keys.norm_topk_prob) reader.refuse('norm_topk_prob', 'must be absent or false');
    return latentMixture(keys, reader, {
      isInterleaved: true,
      hasExperts: expertsAfterFirst(keys),
      predictionLayerCount: 0,
      experts: {
        isNormalised: false,
        scale: keys.routed_scaling_factor ?? 1,
        groups: isGrouped ? readGroups(keys, reader, 1) : undefined,
        modules: SHARED_EXPERT_MODULES,
      },
    });
  },
};

export const deepseekV3: Architecture = {
  modelType: 'deepseek_v3',
  names: 'DeepSeek-V3, V3.1 and R1, Moonlight',
  defaults: {
    ...LATENT_SIZES,
    num_key_value_heads: 128,
    n_routed_experts: 256,
    n_shared_experts: 1,
    num_experts_per_tok: 8,
    moe_intermediate_size: 2048,
    first_k_dense_replace: 3,
    n_group: 8,
    topk_group: 4,
  },
  cachedHeads: latentHeads,
  read(keys, reader) {
    if ((keys.topk_method ?? 'noaux_tc') !== 'noaux_tc')
      reader.refuse('topk_method', `is "${keys.topk_method}"; allowed: "noaux_tc"`);
    refuseOther(keys, reader, 'sigmoid');
    return latentMixture(keys, reader, {
      isInterleaved: keys.rope_interleave ?? true,
      hasExperts: expertsAfterFirst(keys),
      predictionLayerCount: keys.num_nextn_predict_layers ?? keys.num_mtp_layers ?? 1,
      experts: sigmoidExperts(keys, reader, 2.5),
    });
  },
};

/** The layers of DeepSeek-V3; transformers reads it by code in its repository. */
export const kimiK2: Architecture = { ...deepseekV3, modelType: 'kimi_k2', names: 'Kimi K2' };

export const glm4MoeLite: Architecture = {
  modelType: 'glm4_moe_lite',
  names: 'GLM-4.7-Flash',
  defaults: {
    ...LATENT_SIZES,
    q_lora_rank: 768,
    qk_nope_head_dim: 192,
    v_head_dim: 256,
    rms_norm_eps: 1e-5,
    num_key_value_heads: 20,
    n_routed_experts: 64,
    n_shared_experts: 1,
    num_experts_per_tok: 4,
    moe_intermediate_size: 1536,
    n_group: 1,
    topk_group: 1,
  },
  cachedHeads: latentHeads,
  read(keys, reader) {
    const { head_dim: size, qk_rope_head_dim: rotated } = keys;
    // Two names of one setting in transformers, of which the last one counts.
    if (size != null && size !== rotated)
      reader.invalid('head_dim', `is ${size}, but qk_rope_head_dim is ${rotated}; they must agree`);
    return latentMixture(keys, reader, {
      isInterleaved: keys.rope_interleave ?? true,
      hasExperts: sparseLayers(keys, reader),
      predictionLayerCount: keys.num_nextn_predict_layers ?? 1,
      experts: sigmoidExperts(keys, reader, 1.8),
    });
  },
};

interface Mixture {
  readonly isInterleaved: boolean;
  readonly hasExperts: (layer: number) => boolean;
  readonly predictionLayerCount: number;
  readonly experts: Partial<ExpertsConfig>;
}

function latentMixture(
  keys: ConfigKeys,
  reader: ConfigReader,
  { isInterleaved, hasExperts, predictionLayerCount, experts }: Mixture,
): DecoderFeatures {
  const sharedSize = keys.moe_intermediate_size! * keys.n_shared_experts!;
  return {
    ...readLatent(keys, reader, { isInterleaved }),
    predictionLayerCount,
    mlpBias: keys.mlp_bias ? reader.refuse('mlp_bias', 'must be absent or false') : false,
    experts: readExperts(keys, reader, {
      countKey: 'n_routed_experts',
      intermediateSize: keys.moe_intermediate_size!,
      ...experts,
    }),
    modules: { query: keys.q_lora_rank == null ? 'self_attn.q_proj' : 'self_attn.q_b_proj' },
    layer: mixtureLayers(keys, { sharedSize, hasExperts }),
  };
}

/** By `mlp_layer_types`; by default all but the first layer have experts. Throws: `config_invalid`, `unsupported`. */
function sparseLayers(keys: ConfigKeys, reader: ConfigReader): (layer: number) => boolean {
  const { mlp_layer_types: types, first_k_dense_replace: first = 1 } = keys;
  if (types == null) {
    if (first !== 1) reader.refuse('first_k_dense_replace', `is ${first}; allowed: 1, or mlp_layer_types`);
    return layer => layer >= 1;
  }
  const other = types.find(type => type !== 'dense' && type !== 'sparse');
  if (other !== undefined) reader.refuse('mlp_layer_types', `holds "${other}"; allowed: "dense", "sparse"`);
  if (types.length !== keys.num_hidden_layers)
    reader.invalid('mlp_layer_types', `has ${types.length} entries for ${keys.num_hidden_layers} layers`);
  return layer => types[layer] === 'sparse';
}

/** Keys that DeepSeek's own code reads, and transformers does not. Throws: `unsupported`. */
function refuseOther(keys: ConfigKeys, reader: ConfigReader, scoring: DecoderScoring): void {
  if ((keys.scoring_func ?? scoring) !== scoring)
    reader.refuse('scoring_func', `is "${keys.scoring_func}"; allowed: "${scoring}"`);
  if ((keys.moe_layer_freq ?? 1) !== 1) reader.refuse('moe_layer_freq', 'must be absent or 1');
}

type DecoderScoring = NonNullable<DecoderConfig['experts']>['scoring'];
