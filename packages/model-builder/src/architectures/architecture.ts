// What distinguishes one `model_type` from another. Everything they share is in `decoder-graph.ts`.

import type { DecoderConfig, DecoderConfigFile } from '../hugging-face/decoder-config.ts';

/** The parts of a decoder that a `model_type` settles, some of them through config.json. */
export type DecoderFeatures = Pick<
  DecoderConfig,
  'qkvBias' | 'attentionOutputBias' | 'mlpBias' | 'queryKeyNorm'
>;

export interface Architecture {
  readonly modelType: string;
  /** Head size when config.json gives no `head_dim`. May be a fraction, which the caller refuses. */
  defaultHeadSize(file: DecoderConfigFile): number;
  features(file: DecoderConfigFile): DecoderFeatures;
}
