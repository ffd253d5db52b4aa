// Shapes of models that people run, for random weights: time does not depend on what the weights are.

export interface ModelShape {
  readonly modelType: 'llama' | 'qwen2' | 'qwen3';
  /** In the words of config.json; a benchmark adds the context that it needs. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Source: config.json of the published models. */
export const MODEL_SHAPES = {
  'smollm2-135m': {
    modelType: 'llama',
    config: {
      hidden_size: 576,
      intermediate_size: 1_536,
      num_hidden_layers: 30,
      num_attention_heads: 9,
      num_key_value_heads: 3,
      head_dim: 64,
      vocab_size: 49_152,
      rms_norm_eps: 1e-5,
      rope_theta: 100_000,
      tie_word_embeddings: true,
    },
  },
  'qwen2.5-0.5b': {
    modelType: 'qwen2',
    config: {
      hidden_size: 896,
      intermediate_size: 4_864,
      num_hidden_layers: 24,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      head_dim: 64,
      vocab_size: 151_936,
      rms_norm_eps: 1e-6,
      rope_theta: 1_000_000,
      tie_word_embeddings: true,
    },
  },
  'qwen2.5-1.5b': {
    modelType: 'qwen2',
    config: {
      hidden_size: 1_536,
      intermediate_size: 8_960,
      num_hidden_layers: 28,
      num_attention_heads: 12,
      num_key_value_heads: 2,
      head_dim: 128,
      vocab_size: 151_936,
      rms_norm_eps: 1e-6,
      rope_theta: 1_000_000,
      tie_word_embeddings: true,
    },
  },
  'qwen2.5-3b': {
    modelType: 'qwen2',
    config: {
      hidden_size: 2_048,
      intermediate_size: 11_008,
      num_hidden_layers: 36,
      num_attention_heads: 16,
      num_key_value_heads: 2,
      head_dim: 128,
      vocab_size: 151_936,
      rms_norm_eps: 1e-6,
      rope_theta: 1_000_000,
      tie_word_embeddings: true,
    },
  },
  'llama-3.1-8b': {
    modelType: 'llama',
    config: {
      hidden_size: 4_096,
      intermediate_size: 14_336,
      num_hidden_layers: 32,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 128_256,
      rms_norm_eps: 1e-5,
      rope_theta: 500_000,
      tie_word_embeddings: false,
    },
  },
} as const satisfies Record<string, ModelShape>;
