// The keys of config.json that affect a decoder graph, and the `DecoderConfig` derived from them. Architectures and blocks
// depend on this file only; config.ts reads config.json.

import { z } from 'zod';
import type { RopeConfig } from './rope.ts';

/** Keys shared by the three architectures. Other keys have no effect on the graph. */
export const decoderConfigFile = z.object({
  model_type: z.string(),
  hidden_size: z.int().positive(),
  intermediate_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  num_key_value_heads: z.int().positive().nullish(),
  head_dim: z.int().positive().nullish(),
  vocab_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
  rms_norm_eps: z.number().positive(),
  hidden_act: z.string().nullish(),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  rope_theta: z.number().positive().nullish(),
  rope_scaling: z.record(z.string(), z.unknown()).nullish(),
  rope_parameters: z.record(z.string(), z.unknown()).nullish(),
  original_max_position_embeddings: z.number().nullish(),
  partial_rotary_factor: z.number().nullish(),
  use_sliding_window: z.boolean().nullish(),
  sliding_window: z.number().nullish(),
  max_window_layers: z.number().nullish(),
  layer_types: z.array(z.string()).nullish(),
  is_causal: z.boolean().nullish(),
  per_layer_config: z.record(z.string(), z.unknown()).nullish(),
});

export type DecoderConfigFile = z.infer<typeof decoderConfigFile>;

/** All parameters of the graph besides the weights. */
export interface DecoderConfig {
  readonly modelType: string;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layerCount: number;
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  readonly vocabSize: number;
  /** Unit: tokens. */
  readonly contextLength: number;
  readonly normEpsilon: number;
  readonly rope: RopeConfig;
  /** The output matrix is the embedding table. */
  readonly tiedEmbeddings: boolean;
  readonly qkvBias: boolean;
  readonly attentionOutputBias: boolean;
  readonly mlpBias: boolean;
  /** RMS norms over each query and key head before the rotary embedding. */
  readonly queryKeyNorm: boolean;
}
