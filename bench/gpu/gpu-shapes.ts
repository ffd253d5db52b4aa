// Shapes of models that people run, for random weights: time does not depend on what the weights are.

export interface GpuShape {
  readonly name: string;
  readonly modelType: 'llama' | 'qwen2' | 'qwen3';
  /** In the words of config.json. */
  readonly config: Readonly<Record<string, unknown>>;
}

const QWEN2 = { rms_norm_eps: 1e-6, rope_theta: 1_000_000, max_position_embeddings: 8_192 };

/** Source of the larger ones: config.json of Qwen2.5-0.5B, Qwen2.5-1.5B and Llama-3.1-8B. */
export const GPU_SHAPES: readonly GpuShape[] = [
  {
    name: 'tiny',
    modelType: 'llama',
    config: {
      hidden_size: 256,
      intermediate_size: 512,
      num_hidden_layers: 2,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      head_dim: 64,
      vocab_size: 2_048,
      max_position_embeddings: 8_192,
    },
  },
  {
    name: '0.5b',
    modelType: 'qwen2',
    config: {
      ...QWEN2,
      hidden_size: 896,
      intermediate_size: 4_864,
      num_hidden_layers: 24,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      head_dim: 64,
      vocab_size: 151_936,
    },
  },
  {
    name: '1.5b',
    modelType: 'qwen2',
    config: {
      ...QWEN2,
      hidden_size: 1_536,
      intermediate_size: 8_960,
      num_hidden_layers: 28,
      num_attention_heads: 12,
      num_key_value_heads: 2,
      head_dim: 128,
      vocab_size: 151_936,
    },
  },
  {
    name: '8b',
    modelType: 'llama',
    config: {
      hidden_size: 4_096,
      intermediate_size: 14_336,
      num_hidden_layers: 32,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 128_256,
      max_position_embeddings: 8_192,
      rope_theta: 500_000,
      tie_word_embeddings: false,
    },
  },
];
