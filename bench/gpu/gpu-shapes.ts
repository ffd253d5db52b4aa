// The shapes of the benchmark on a GPU, by the names that its options take.

import { MODEL_SHAPES, type ModelShape } from '../model-shapes.ts';

export interface GpuShape extends ModelShape {
  readonly name: string;
}

/** Of the models and of the engines that run them. */
export const CONTEXT_LENGTH = 8_192;

/** A few megabytes, for a processor as well. */
const TINY: ModelShape = {
  modelType: 'llama',
  config: {
    hidden_size: 256,
    intermediate_size: 512,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 64,
    vocab_size: 2_048,
  },
};

export const GPU_SHAPES: readonly GpuShape[] = [
  named('tiny', TINY),
  named('0.5b', MODEL_SHAPES['qwen2.5-0.5b']),
  named('1.5b', MODEL_SHAPES['qwen2.5-1.5b']),
  named('8b', MODEL_SHAPES['llama-3.1-8b']),
];

function named(name: string, { modelType, config }: ModelShape): GpuShape {
  return { name, modelType, config: { ...config, max_position_embeddings: CONTEXT_LENGTH } };
}
