// What config.json says of multi-head latent attention, in the keys that families share.
// Source: transformers, models/deepseek_v3/modeling_deepseek_v3.py

import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { LatentAttention } from '../hugging-face/latent-attention.ts';
import type { ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';

/** Outputs of a tile: each head's matrices have whole ones. */
const TILE = 16;
/** Epsilon of the norms of latent rows, whatever config.json says of the others. */
const EPSILON = 1e-6;

/** A row of the cache, which all heads share. The architecture has defaults of both keys. */
export function latentHeads({ kv_lora_rank: rank, qk_rope_head_dim: rotated }: ConfigKeys) {
  return { count: 1, size: rank! + rotated! };
}

export interface LatentOptions {
  readonly isInterleaved: boolean;
}

/** Throws: `unsupported`. */
export function readLatent(
  keys: ConfigKeys,
  reader: ConfigReader,
  { isInterleaved }: LatentOptions,
): Pick<DecoderConfig, 'latent' | 'ropes' | 'attentionScale'> {
  const [rank, rotatedSize, plainSize] = [keys.kv_lora_rank!, keys.qk_rope_head_dim!, keys.qk_nope_head_dim!];
  const valueSize = keys.v_head_dim ?? keys.hidden_size / keys.num_attention_heads;
  const vectors = { kv_lora_rank: rank, qk_rope_head_dim: rotatedSize, v_head_dim: valueSize };
  for (const [key, value] of Object.entries(vectors))
    if (value % TILE !== 0) reader.refuse(key, `is ${value}; allowed: multiples of ${TILE}`);
  const keyHeads = keys.num_key_value_heads ?? keys.num_attention_heads;
  if (keyHeads !== keys.num_attention_heads)
    reader.refuse('num_key_value_heads', `is ${keyHeads}; it must be num_attention_heads`);
  if (keys.attention_bias) reader.refuse('attention_bias', 'must be absent or false');
  const latent: LatentAttention = {
    queryRank: keys.q_lora_rank ?? undefined,
    rank,
    plainSize,
    rotatedSize,
    valueSize,
    epsilon: EPSILON,
  };
  const scale = (plainSize + rotatedSize) ** -0.5 * yarnScale(keys);
  return {
    latent,
    ropes: [reader.rope({ headSize: rotatedSize, isInterleaved })],
    attentionScale: scale,
  };
}

/** YaRN's factor of the scores, which is apart from that of cosines and sines. Transformers has it for all types but "default". */
function yarnScale({ rope_parameters: parameters, rope_scaling: scaling }: ConfigKeys): number {
  const settings = [parameters, scaling].find(found => found?.mscale_all_dim !== undefined);
  const { rope_type: type, type: olderType, factor, mscale_all_dim: weight } = settings ?? {};
  if ((type ?? olderType ?? 'default') === 'default') return 1;
  if (typeof factor !== 'number' || typeof weight !== 'number' || factor <= 1) return 1;
  return (0.1 * weight * Math.log(factor) + 1) ** 2;
}
