// LFM2: short convolutions with gates in most layers, attention with norms of query and key heads in the others.
// Source: transformers, models/lfm2/modeling_lfm2.py and configuration_lfm2.py

import type { Architecture } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { attentionLayers, kernelLength, vectorSize } from './layer-kinds.ts';

export const lfm2: Architecture = {
  modelType: 'lfm2',
  names: 'LFM2, LFM2.5',
  defaults: {
    vocab_size: 65_536,
    hidden_size: 2560,
    intermediate_size: 12_288,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    max_position_embeddings: 128_000,
    norm_eps: 1e-5,
    tie_word_embeddings: true,
    conv_L_cache: 3,
    conv_bias: false,
  },
  readsLayerTypes: true,
  read(keys, reader) {
    const listed = keys.full_attn_idxs ?? undefined;
    const pattern = (layer: number) => listed?.includes(layer) ?? true;
    const isAttention = attentionLayers(keys, reader, { other: 'conv', pattern });
    vectorSize('hidden_size', keys.hidden_size, reader);
    const memory = {
      kind: 'short-convolution',
      kernel: kernelLength('conv_L_cache', keys.conv_L_cache!, reader),
      hasBias: keys.conv_bias!,
    } as const;
    const intermediateSize = adjustedSize(keys);
    return {
      tiedEmbeddings: keys.tie_embedding ?? keys.tie_word_embeddings!,
      queryKeyNorm: 'head',
      norm: { kind: 'rms', epsilon: keys.norm_eps!, weightOffset: 0, hasBias: false },
      ropes: [reader.rope({ defaultTheta: 1_000_000 })],
      layer: index => ({
        intermediateSize,
        window: undefined,
        ...(isAttention(index) ? { rope: 0 } : { rope: undefined, memory }),
      }),
      modules: {
        beforeAttention: 'operator_norm',
        beforeMlp: 'ffn_norm',
        attentionOutput: 'self_attn.out_proj',
        queryNorm: 'self_attn.q_layernorm',
        keyNorm: 'self_attn.k_layernorm',
        gate: 'feed_forward.w1',
        up: 'feed_forward.w3',
        down: 'feed_forward.w2',
        finalNorm: 'embedding_norm',
        memory: { ...NO_MODULES, input: 'conv.in_proj', convolution: 'conv.conv', output: 'conv.out_proj' },
      },
    };
  },
};

/** A short convolution has no others. */
const NO_MODULES = { gate: '', beta: '', decay: '', decayLog: '', decayBias: '', norm: '' };

/** Two thirds of the size that config.json names, times a factor, in whole multiples. */
function adjustedSize(keys: ConfigKeys): number {
  const size = keys.block_ff_dim ?? keys.intermediate_size;
  if (keys.block_auto_adjust_ff_dim === false) return size;
  const multiple = keys.block_multiple_of ?? 256;
  const factor = keys.block_ffn_dim_multiplier === undefined ? 1 : keys.block_ffn_dim_multiplier;
  const reduced = Math.trunc((2 * size) / 3);
  // Without a factor there is no rounding either.
  return factor === null ? reduced : Math.ceil(Math.trunc(factor * reduced) / multiple) * multiple;
}
