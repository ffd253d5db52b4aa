// The interface of an architecture: properties that differ between `model_type`s. `decoder-graph.ts` has the shared graph.

import type { DecoderConfig, DecoderConfigFile } from '../hugging-face/decoder-config.ts';

/** Features of a decoder that its `model_type` determines, partly by config.json. */
export type DecoderFeatures = Pick<
  DecoderConfig,
  'qkvBias' | 'attentionOutputBias' | 'mlpBias' | 'queryKeyNorm'
>;

export interface Architecture {
  readonly modelType: string;
  /** Head size without `head_dim` in config.json. It may be fractional, which the caller refuses. */
  defaultHeadSize(file: DecoderConfigFile): number;
  features(file: DecoderConfigFile): DecoderFeatures;
}
