// The keys of config.json that affect a decoder graph, of all architectures. An architecture reads those that its model type
// has; others have no effect.

import { z } from 'zod';

const size = z.int().positive();
const nullableSize = size.nullish();

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
  max_position_embeddings: size,
  tie_word_embeddings: z.boolean().optional(),
  is_causal: z.boolean().nullish(),
  use_bidirectional_attention: z.unknown().optional(),
  per_layer_config: z.record(z.string(), z.unknown()).nullish(),

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

  sliding_window: size.nullish(),
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.number().nullish(),
  sliding_window_pattern: z.union([z.int().nonnegative(), z.string()]).nullish(),
  layer_types: z.array(z.string()).nullish(),

  query_pre_attn_scalar: z.number().positive().optional(),
  attn_logit_softcapping: z.number().positive().nullish(),
  final_logit_softcapping: z.number().positive().nullish(),

  global_head_dim: size.optional(),
  num_global_key_value_heads: nullableSize,
  attention_k_eq_v: z.boolean().optional(),
  num_kv_shared_layers: z.int().nonnegative().optional(),
  use_double_wide_mlp: z.boolean().optional(),
  hidden_size_per_layer_input: z.int().nonnegative().nullish(),
  vocab_size_per_layer_input: size.optional(),
  enable_moe_block: z.boolean().nullish(),

  num_experts: size.optional(),
  num_local_experts: size.optional(),
  num_experts_per_tok: size.optional(),
  moe_intermediate_size: size.optional(),
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
  use_qk_norm: z.boolean().nullish(),
  num_nextn_predict_layers: z.int().nonnegative().nullish(),
  num_mtp_layers: z.int().nonnegative().nullish(),
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

  embedding_multiplier: z.number().optional(),
  residual_multiplier: z.number().optional(),
  attention_multiplier: z.number().optional(),
  logits_scaling: z.number().positive().optional(),
  logit_scale: z.number().optional(),
});

export type ConfigKeys = z.infer<typeof configKeys>;
