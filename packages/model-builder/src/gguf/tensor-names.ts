// Names of tensors in GGUF files, by their names in Hugging Face checkpoints, which the blocks of the graph ask for.
// Source: gguf-py, tensor_mapping.py.

/** Divisors of rotary frequencies, which are part of the configuration: of llama3 scaling, and of LongRoPE. */
export const ROPE_FACTORS = 'rope_freqs.weight';
export const LONG_FACTORS = 'rope_factors_long.weight';
export const SHORT_FACTORS = 'rope_factors_short.weight';

/** The decay of a recurrent layer: a file has `-exp(x)` where a checkpoint has `x`. */
export const DECAYS = 'ssm_a';

const OUTER: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'model.norm.bias': 'output_norm.bias',
  // Nemotron-H.
  'model.embeddings.weight': 'token_embd.weight',
  'model.norm_f.weight': 'output_norm.weight',
  // Falcon-H1.
  'model.final_layernorm.weight': 'output_norm.weight',
  // The last norm of LFM2.
  'model.embedding_norm.weight': 'token_embd_norm.weight',
  'lm_head.weight': 'output.weight',
  'model.embed_tokens_per_layer.weight': 'per_layer_token_embd.weight',
  'model.per_layer_model_projection.weight': 'per_layer_model_proj.weight',
  'model.per_layer_projection_norm.weight': 'per_layer_proj_norm.weight',
};

const OF_LAYER: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.qkv_proj': 'attn_qkv',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  // Gates and ups in one matrix.
  'mlp.gate_up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'mlp.gate': 'ffn_gate_inp',
  'mlp.experts.gate_proj': 'ffn_gate_exps',
  'mlp.experts.up_proj': 'ffn_up_exps',
  'mlp.experts.down_proj': 'ffn_down_exps',
  'mlp.experts.into_latent': 'ffn_latent_down',
  'mlp.experts.from_latent': 'ffn_latent_up',
  'mlp.shared_expert.gate_proj': 'ffn_gate_shexp',
  'mlp.shared_expert.up_proj': 'ffn_up_shexp',
  'mlp.shared_expert.down_proj': 'ffn_down_shexp',
  'mlp.shared_expert_gate': 'ffn_gate_inp_shexp',
  per_layer_input_gate: 'inp_gate',
  per_layer_projection: 'proj',
  post_per_layer_input_norm: 'post_norm',
};

/** Tensors of a layer whose names in checkpoints have no part after them. */
const WITHOUT_PART: Readonly<Record<string, string>> = {
  layer_scalar: 'layer_output_scale.weight',
  'self_attn.sinks': 'attn_sinks.weight',
  'mlp.gate.expert_bias': 'exp_probs_b.bias',
  'linear_attn.A_log': DECAYS,
  'linear_attn.dt_bias': 'ssm_dt.bias',
  'mamba.A_log': DECAYS,
  'mamba.D': 'ssm_d',
  'mamba.dt_bias': 'ssm_dt.bias',
  'mixer.A_log': DECAYS,
  'mixer.D': 'ssm_d',
  'mixer.dt_bias': 'ssm_dt.bias',
  // Converters leave out the part.
  'pre_ff_layernorm.weight': 'ffn_norm',
};
const IN_LAYER = /^model\.layers\.(\d+)\.(.+)$/;

const LAYER_NAME = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/;

/**
 * Undefined for a tensor that GGUF has no name for. `modules` are the names of the architecture where they are not those of Llama.
 */
export function ggufNameOf(name: string, modules: Readonly<Record<string, string>> = {}): string | undefined {
  const outer = OUTER[name];
  if (outer !== undefined) return outer;
  const [, index, inLayer] = IN_LAYER.exec(name) ?? [];
  const whole = inLayer === undefined ? undefined : WITHOUT_PART[inLayer];
  if (whole !== undefined) return `blk.${index}.${whole}`;
  const [, layer, module, part] = LAYER_NAME.exec(name) ?? [];
  const inner = module === undefined ? undefined : (modules[module] ?? OF_LAYER[module]);
  return inner === undefined ? undefined : `blk.${layer}.${inner}.${part}`;
}
