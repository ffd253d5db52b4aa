// GGUF files of Gemma 1 to 4.
// Source: llama.cpp, convert_hf_to_gguf.py and llama-model.cpp

import { type GgufArchitecture, type GgufFacts, windowKeys } from './gguf-architecture.ts';

const GELU = { hidden_act: 'gelu_pytorch_tanh', hidden_activation: 'gelu_pytorch_tanh' } as const;

/** Norms before and after attention and MLP, of which Llama has the first and the third. */
const SANDWICH = {
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
} as const;

/**
 * The largest models of Gemma 2 and 3 scale their scores by another number than the size of a head. The file does not say so; they
 * are known by their number of layers.
 */
function queryScalar({ fields, headSize, hiddenSize, headCount }: GgufFacts, name: string, largest: number) {
  const isLargest = fields.count(`${name}.block_count`) === largest;
  return { query_pre_attn_scalar: isLargest ? hiddenSize / headCount : headSize };
}

export const gemma: GgufArchitecture = { modelType: 'gemma', configKeys: () => GELU };

export const gemma2: GgufArchitecture = {
  modelType: 'gemma2',
  hasWindows: true,
  modules: SANDWICH,
  configKeys: facts => ({
    ...GELU,
    ...queryScalar(facts, 'gemma2', 46),
    sliding_window: facts.fields.window('gemma2') ?? 4096,
    attn_logit_softcapping: facts.fields.optionalNumber('gemma2.attn_logit_softcapping') ?? 50,
    final_logit_softcapping: facts.fields.optionalNumber('gemma2.final_logit_softcapping') ?? 30,
  }),
};

export const gemma3: GgufArchitecture = {
  modelType: 'gemma3_text',
  hasWindows: true,
  hasLocalBase: true,
  modules: SANDWICH,
  configKeys: facts => ({
    ...GELU,
    ...queryScalar(facts, 'gemma3', 62),
    rope_theta: facts.fields.optionalNumber('gemma3.rope.freq_base') ?? 1_000_000,
    rope_local_base_freq: facts.fields.optionalNumber('gemma3.rope.freq_base_swa') ?? 10_000,
    sliding_window: facts.fields.count('gemma3.attention.sliding_window'),
    sliding_window_pattern: facts.fields.optionalCount('gemma3.attention.sliding_window_pattern') ?? 6,
    final_logit_softcapping: facts.fields.optionalNumber('gemma3.final_logit_softcapping') ?? null,
  }),
};

export const gemma4: GgufArchitecture = {
  modelType: 'gemma4_text',
  hasWindows: true,
  hasLocalBase: true,
  layersDiffer: true,
  readsRopeFactors: true,
  modules: SANDWICH,
  configKeys(facts) {
    const { fields, headSize, ropeFactors, has, rowCount } = facts;
    const widths = fields.layerCounts('gemma4.feed_forward_length');
    const keyHeads = fields.layerCounts('gemma4.attention.head_count_kv');
    const sliding = fields.flags('gemma4.attention.sliding_window_pattern') ?? [];
    const full = sliding.indexOf(false);
    const theta = (key: string, fallback: number) => fields.optionalNumber(`gemma4.rope.${key}`) ?? fallback;
    return {
      ...GELU,
      ...windowKeys(facts, 'gemma4'),
      head_dim: fields.count('gemma4.attention.key_length_swa'),
      global_head_dim: headSize,
      intermediate_size: widths?.[0],
      use_double_wide_mlp: widths !== undefined && widths.at(-1) !== widths[0],
      num_key_value_heads: countOf(keyHeads, sliding.indexOf(true)),
      num_global_key_value_heads: countOf(keyHeads, full) ?? null,
      attention_k_eq_v: !has(`blk.${full}.attn_v.weight`),
      num_kv_shared_layers: fields.wholeNumber('gemma4.attention.shared_kv_layers'),
      hidden_size_per_layer_input: fields.wholeNumber('gemma4.embedding_length_per_layer_input'),
      vocab_size_per_layer_input: rowCount('per_layer_token_embd.weight'),
      final_logit_softcapping: fields.optionalNumber('gemma4.final_logit_softcapping') ?? null,
      rope_theta: null,
      rope_parameters: {
        full_attention: {
          rope_type: 'proportional',
          partial_rotary_factor: rotatedShare(ropeFactors),
          rope_theta: theta('freq_base', 1_000_000),
        },
        sliding_attention: { rope_type: 'default', rope_theta: theta('freq_base_swa', 10_000) },
      },
    };
  },
};

/** The number of a layer; the list has one where all layers have the same. */
function countOf(counts: readonly number[] | undefined, layer: number): number | undefined {
  return counts?.[counts.length === 1 ? 0 : layer];
}

/** Share of the frequencies that rotate; the file divides the others by an enormous number. */
function rotatedShare(factors: readonly number[] | undefined): number {
  return factors === undefined ? 1 : factors.filter(factor => factor === 1).length / factors.length;
}
