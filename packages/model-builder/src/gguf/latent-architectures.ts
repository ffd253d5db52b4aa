// GGUF files of models with multi-head latent attention: DeepSeek-V2 and V3, and models with their layers (Moonlight, Kimi K2,
// GLM-4.7-Flash).
// Source: llama.cpp, conversion/deepseek.py, conversion/glm.py and src/models/deepseek2.cpp

import type { ConfigFields } from './config-fields.ts';
import { expertKeys, groupKeys } from './expert-keys.ts';
import type { GgufArchitecture, GgufFacts } from './gguf-architecture.ts';

/** Of `expert_gating_func`. Source: gguf-py, constants.py (ExpertGatingFuncType) */
const [SOFTMAX, SIGMOID] = [1, 2];
/** What converters multiply `mscale_all_dim` by. Source: llama.cpp, TAG_DEEPSEEK2_YARN_LOG_MUL_FIX */
const LOG_MULTIPLIER = 0.1;

export const deepseek2: GgufArchitecture = {
  modelType: 'deepseek_v3',
  hasExperts: true,
  hasLatentHeads: true,
  modules: {
    'self_attn.q_a_proj': 'attn_q_a',
    'self_attn.q_a_layernorm': 'attn_q_a_norm',
    'self_attn.q_b_proj': 'attn_q_b',
    'self_attn.kv_a_proj_with_mqa': 'attn_kv_a_mqa',
    'self_attn.kv_a_layernorm': 'attn_kv_a_norm',
    // Older files have one matrix of both.
    'self_attn.kv_b_proj': 'attn_kv_b',
    'self_attn.k_b_proj': 'attn_k_b',
    'self_attn.v_b_proj': 'attn_v_b',
  },
  configKeys(facts) {
    const { fields, headCount } = facts;
    const count = (key: string) => fields.optionalCount(`deepseek2.${key}`);
    const rotated = fields.count('deepseek2.rope.dimension_count');
    const keySize = count('attention.key_length_mla') ?? fields.count('deepseek2.attention.key_length');
    const valueSize = count('attention.value_length_mla') ?? fields.count('deepseek2.attention.value_length');
    if (keySize <= rotated)
      fields.refuse('deepseek2.rope.dimension_count', `is ${rotated}, and heads of keys have ${keySize}`);
    if (fields.optionalNumber('deepseek2.attention.temperature_scale') !== undefined)
      fields.refuse('deepseek2.attention.temperature_scale', 'must be absent');
    return {
      ...expertKeys(facts, 'deepseek2'),
      ...routing(facts),
      num_key_value_heads: headCount,
      head_dim: rotated,
      kv_lora_rank: fields.count('deepseek2.attention.kv_lora_rank'),
      q_lora_rank: count('attention.q_lora_rank') ?? null,
      qk_rope_head_dim: rotated,
      qk_nope_head_dim: keySize - rotated,
      v_head_dim: valueSize,
      moe_intermediate_size: fields.count('deepseek2.expert_feed_forward_length'),
      n_shared_experts: fields.count('deepseek2.expert_shared_count'),
      first_k_dense_replace: fields.wholeNumber('deepseek2.leading_dense_block_count'),
      ...yarn(fields),
    };
  },
};

/** Files may leave out the kind of scores: then those with a bias to choose by are sigmoids. */
function routing(facts: GgufFacts) {
  const { fields, hasInLayers } = facts;
  const key = 'deepseek2.expert_gating_func';
  const scoring = fields.wholeNumber(key) || (hasInLayers('exp_probs_b.bias') ? SIGMOID : SOFTMAX);
  if (scoring !== SOFTMAX && scoring !== SIGMOID)
    fields.refuse(key, `is ${scoring}; allowed: ${SOFTMAX}, softmax, and ${SIGMOID}, the sigmoid`);
  const groups = groupKeys(facts, 'deepseek2');
  return {
    model_type: scoring === SIGMOID ? 'deepseek_v3' : 'deepseek_v2',
    norm_topk_prob: fields.flag('deepseek2.expert_weights_norm') ?? false,
    routed_scaling_factor: fields.optionalNumber('deepseek2.expert_weights_scale') ?? 1,
    ...groups,
    ...(scoring === SOFTMAX && groups.n_group > 1 ? { topk_method: 'group_limited_greedy' } : {}),
  };
}

/** The factor of the rotation is one where the file has that of scores, as in all published models. */
function yarn(fields: ConfigFields) {
  const scaling = fields.ropeScaling('deepseek2');
  const multiplier = scaling?.mscale_all_dim;
  if (typeof multiplier !== 'number') return {};
  const factor = multiplier / LOG_MULTIPLIER;
  return { rope_scaling: { ...scaling, mscale: factor, mscale_all_dim: factor } };
}
