// The keys of config.json that affect a decoder graph, of all architectures. An architecture reads those that its model type
// has; others have no effect.

import { z } from 'zod';

const size = z.int().positive();
const nullableSize = size.nullish();

/** A number, or one for each layer where all are equal, as Hunyuan writes them. */
const equalSizes = z.union([
  size,
  z
    .array(size)
    .min(1)
    .refine(sizes => sizes.every(each => each === sizes[0]), 'must be the same for all layers')
    .transform(sizes => sizes[0]!),
]);

export const configKeys = z.object({
  model_type: z.string(),
  hidden_size: size,
  intermediate_size: size,
  // Of corrupt numbers: lists of this length are made before any weight is looked for.
  num_hidden_layers: size.max(10_000),
  num_attention_heads: size,
  num_key_value_heads: nullableSize,
  head_dim: nullableSize,
  vocab_size: size,
  // The tables of rotations have a row for each; the longest published contexts have 10,485,760.
  max_position_embeddings: size.max(2 ** 24),
  tie_word_embeddings: z.boolean().optional(),
  is_causal: z.boolean().nullish(),
  use_bidirectional_attention: z.unknown().optional(),
  per_layer_config: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),

  rms_norm_eps: z.number().positive().optional(),
  layer_norm_eps: z.number().positive().optional(),
  norm_eps: z.number().positive().optional(),
  norm_epsilon: z.number().positive().optional(),

  hidden_act: z.string().nullish(),
  hidden_activation: z.string().nullish(),

  attention_bias: z.boolean().nullish(),
  attention_out_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  use_bias: z.boolean().nullish(),

  rope_theta: z.number().positive().nullish(),
  rope_local_base_freq: z.number().positive().nullish(),
  rope_scaling: z.record(z.string(), z.unknown()).nullish(),
  rope_parameters: z.record(z.string(), z.unknown()).nullish(),
  original_max_position_embeddings: z.number().nullish(),
  partial_rotary_factor: z.number().nullish(),
  no_rope_layers: z.array(z.number()).nullish(),
  no_rope_layer_interval: size.optional(),

  sliding_window: z.int().nonnegative().nullish(),
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.number().nullish(),
  sliding_window_pattern: z.union([z.int().nonnegative(), z.string()]).nullish(),
  layer_types: z.array(z.string()).nullish(),

  query_pre_attn_scalar: z.number().positive().optional(),
  attn_logit_softcapping: z.number().positive().nullish(),
  final_logit_softcapping: z.number().positive().nullish(),

  kv_lora_rank: size.optional(),
  q_lora_rank: nullableSize,
  qk_nope_head_dim: size.optional(),
  qk_rope_head_dim: size.optional(),
  v_head_dim: nullableSize,
  rope_interleave: z.boolean().optional(),

  scale_emb: z.number().optional(),
  scale_depth: z.number().nullish(),
  dim_model_base: size.nullish(),

  global_head_dim: size.optional(),
  num_global_key_value_heads: nullableSize,
  attention_k_eq_v: z.boolean().optional(),
  num_kv_shared_layers: z.int().nonnegative().optional(),
  use_double_wide_mlp: z.boolean().optional(),
  hidden_size_per_layer_input: z.int().nonnegative().nullish(),
  vocab_size_per_layer_input: size.optional(),
  enable_moe_block: z.boolean().nullish(),

  num_experts: equalSizes.nullish(),
  num_local_experts: z.int().nonnegative().optional(),
  num_experts_per_tok: z.int().nonnegative().nullish(),
  moe_intermediate_size: equalSizes.nullish(),
  norm_topk_prob: z.boolean().optional(),
  decoder_sparse_step: z.int().nonnegative().optional(),
  mlp_only_layers: z.array(z.int().nonnegative()).nullish(),
  clip_qkv: z.number().nullish(),
  qkv_bias: z.boolean().nullish(),
  num_dense_layers: z.int().nonnegative().optional(),
  first_k_dense_replace: z.int().nonnegative().optional(),
  use_expert_bias: z.boolean().optional(),
  routed_scaling_factor: z.number().positive().optional(),
  shared_expert_intermediate_size: size.optional(),
  shared_intermediate_size: z.int().nonnegative().optional(),
  n_routed_experts: size.optional(),
  n_shared_experts: size.optional(),
  n_group: z.int().nonnegative().nullish(),
  topk_group: z.int().nonnegative().nullish(),
  topk_method: z.string().nullish(),
  scoring_func: z.string().nullish(),
  moe_layer_freq: z.int().nonnegative().nullish(),
  mlp_layer_types: z.array(z.string()).nullish(),
  use_qk_norm: z.boolean().nullish(),
  num_nextn_predict_layers: z.int().nonnegative().nullish(),
  num_mtp_layers: z.int().nonnegative().nullish(),
  moe_num_experts: size.optional(),
  moe_k: size.optional(),
  moe_topk: equalSizes.optional(),
  moe_num_shared_experts: z.int().nonnegative().optional(),
  num_shared_expert: equalSizes.optional(),
  moe_layer_start_index: z.int().nonnegative().optional(),
  moe_layer_end_index: z.int().min(-1).optional(),
  moe_layer_interval: size.optional(),
  moe_layer_num_skipped: z.int().nonnegative().optional(),
  moe_norm_min: z.number().optional(),
  moe_shared_expert_intermediate_size: size.optional(),
  moe_latent_size: size.nullish(),
  swiglu_alpha: z.number().optional(),
  swiglu_limit: z.number().positive().optional(),
  conv_L_cache: size.optional(),
  conv_bias: z.boolean().optional(),
  full_attn_idxs: z.array(z.int().nonnegative()).nullish(),
  block_ff_dim: size.optional(),
  block_auto_adjust_ff_dim: z.boolean().optional(),
  block_ffn_dim_multiplier: z.number().positive().nullish(),
  block_multiple_of: size.optional(),
  tie_embedding: z.boolean().optional(),

  full_attention_interval: size.optional(),
  attn_output_gate: z.boolean().optional(),
  linear_conv_kernel_dim: size.optional(),
  linear_key_head_dim: size.optional(),
  linear_value_head_dim: size.optional(),
  linear_num_key_heads: size.optional(),
  linear_num_value_heads: size.optional(),

  mamba_n_heads: size.optional(),
  mamba_n_groups: size.optional(),
  mamba_d_state: size.optional(),
  mamba_d_head: z.union([size, z.literal('auto')]).optional(),
  mamba_d_conv: size.optional(),
  mamba_d_ssm: nullableSize,
  mamba_expand: size.optional(),
  mamba_conv_bias: z.boolean().optional(),
  mamba_proj_bias: z.boolean().optional(),
  mamba_rms_norm: z.boolean().optional(),
  mamba_norm_before_gate: z.boolean().optional(),
  // Python writes an infinite number as no JSON has it: see `json-file.ts`.
  time_step_limit: z.array(z.union([z.number(), z.object({ __float__: z.string() })])).nullish(),
  position_embedding_type: z.string().nullish(),

  mamba_num_heads: size.optional(),
  mamba_head_dim: size.optional(),
  mamba_hidden_act: z.string().optional(),
  mlp_hidden_act: z.string().nullish(),
  n_groups: size.optional(),
  ssm_state_size: size.optional(),
  conv_kernel: size.optional(),
  use_conv_bias: z.boolean().optional(),
  layer_norm_epsilon: z.number().positive().optional(),
  time_step_min: z.number().nonnegative().optional(),
  hybrid_override_pattern: z.string().optional(),
  layers_block_type: z.array(z.string()).optional(),

  projectors_bias: z.boolean().nullish(),
  lm_head_multiplier: z.number().nullish(),
  key_multiplier: z.number().nullish(),
  attention_in_multiplier: z.number().nullish(),
  attention_out_multiplier: z.number().nullish(),
  ssm_in_multiplier: z.number().nullish(),
  ssm_out_multiplier: z.number().nullish(),
  ssm_multipliers: z.array(z.number()).nullish(),
  mlp_multipliers: z.array(z.number()).nullish(),

  embedding_multiplier: z.number().optional(),
  residual_multiplier: z.number().optional(),
  attention_multiplier: z.number().optional(),
  logits_scaling: z.number().positive().optional(),
  logit_scale: z.number().optional(),
});

export type ConfigKeys = z.infer<typeof configKeys>;
