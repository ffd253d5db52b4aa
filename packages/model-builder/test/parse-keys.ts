// Reads keys of config.json beside those of a small model.

import { parseDecoderConfig } from '../src/architectures/read-decoder-config.ts';
import type { DecoderConfig } from '../src/hugging-face/decoder-config.ts';

export const PATH = 'folder/config.json';

/** Without a model type. */
export const SMALL_MODEL = {
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 300,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
};

/** Throws: as `parseDecoderConfig`. */
export function parseKeys(keys: Readonly<Record<string, unknown>>): DecoderConfig {
  return parseDecoderConfig(PATH, { ...SMALL_MODEL, ...keys });
}
