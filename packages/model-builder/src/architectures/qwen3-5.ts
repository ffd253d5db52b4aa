// Qwen 3.5 and 3.6, dense: gated delta networks in three of four layers, attention whose results have a gate in the others, norms that
// add 1 to their weights, and a rotation of a quarter of each head. For text alone the rotation by three coordinates (MRoPE) is that
// by positions. Layers that predict further tokens (`mtp.`) are left out.
// Source: transformers, models/qwen3_5/modeling_qwen3_5.py and configuration_qwen3_5.py

import type { GatedDeltaNet } from '../hugging-face/decoder-config.ts';
import type { Architecture, ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { attentionLayers, kernelLength, vectorSize } from './layer-kinds.ts';
import { allButEvery } from './layer-windows.ts';

/** Source: `MAX_KEY_SIZE` of `packages/kernels/c/delta.h`. */
const LARGEST_KEY_SIZE = 256;

export const qwen3_5: Architecture = {
  modelType: 'qwen3_5_text',
  names: 'Qwen 3.5 and 3.6, dense',
  defaults: {
    vocab_size: 248_320,
    hidden_size: 4096,
    intermediate_size: 12_288,
    num_hidden_layers: 32,
    num_attention_heads: 16,
    num_key_value_heads: 4,
    max_position_embeddings: 32_768,
    rms_norm_eps: 1e-6,
    head_dim: 256,
    full_attention_interval: 4,
    linear_conv_kernel_dim: 4,
    linear_key_head_dim: 128,
    linear_value_head_dim: 128,
    linear_num_key_heads: 16,
    linear_num_value_heads: 32,
  },
  readsLayerTypes: true,
  read(keys, reader) {
    if (keys.attn_output_gate === false) reader.refuse('attn_output_gate', 'must be absent or true');
    const isLinear = allButEvery(keys.full_attention_interval!);
    const pattern = (layer: number) => !isLinear(layer);
    const isAttention = attentionLayers(keys, reader, { other: 'linear_attention', pattern });
    const memory = readDeltaNet(keys, reader);
    return {
      gatesAttention: true,
      qkvBias: keys.attention_bias ?? false,
      attentionOutputBias: keys.attention_bias ?? false,
      queryKeyNorm: 'head',
      norm: { kind: 'rms', epsilon: keys.rms_norm_eps!, weightOffset: 1, hasBias: false },
      ropes: [reader.rope({ defaultPartialFactor: 0.25 })],
      layer: index => ({
        window: undefined,
        ...(isAttention(index) ? { rope: 0 } : { rope: undefined, memory }),
      }),
    };
  },
};

function readDeltaNet(keys: ConfigKeys, reader: ConfigReader): GatedDeltaNet {
  const keyHeadCount = keys.linear_num_key_heads!;
  const valueHeadCount = keys.linear_num_value_heads!;
  if (valueHeadCount % keyHeadCount !== 0) {
    const message = `is ${keyHeadCount}; it must divide linear_num_value_heads, ${valueHeadCount}`;
    reader.invalid('linear_num_key_heads', message);
  }
  return {
    kind: 'gated-delta-net',
    kernel: kernelLength('linear_conv_kernel_dim', keys.linear_conv_kernel_dim!, reader),
    keyHeadCount,
    valueHeadCount,
    keySize: vectorSize('linear_key_head_dim', keys.linear_key_head_dim!, reader, LARGEST_KEY_SIZE),
    valueSize: vectorSize('linear_value_head_dim', keys.linear_value_head_dim!, reader),
  };
}
