// Qwen 3.5 and 3.6: gated delta networks in three of four layers, attention whose results have a gate in the others, norms that
// add 1 to their weights, and a rotation of a quarter of each head. For text alone the rotation by three coordinates (MRoPE) is that
// by positions. Layers that predict further tokens (`mtp.`) are left out. Dense, or with experts in all layers, one of which all
// tokens share.
// Source: transformers, modeling_*.py and configuration_*.py of models/qwen3_5 and models/qwen3_5_moe

import type { GatedDeltaNet } from '../hugging-face/decoder-config.ts';
import { GATED_SHARED_EXPERT_MODULES } from '../hugging-face/experts-config.ts';
import type { Architecture, ConfigReader, DecoderFeatures } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { attentionLayers, kernelLength, vectorSize } from './layer-kinds.ts';
import { allButEvery } from './layer-windows.ts';
import { readExperts } from './read-experts.ts';

/** Source: `MAX_KEY_SIZE` of `packages/kernels/c/delta.h`. */
const LARGEST_KEY_SIZE = 256;

export const QWEN3_5_DEFAULTS = {
  vocab_size: 248_320,
  num_attention_heads: 16,
  max_position_embeddings: 32_768,
  rms_norm_eps: 1e-6,
  head_dim: 256,
  full_attention_interval: 4,
  linear_conv_kernel_dim: 4,
  linear_key_head_dim: 128,
  linear_value_head_dim: 128,
  linear_num_key_heads: 16,
  linear_num_value_heads: 32,
} as const;

export const qwen3_5: Architecture = {
  modelType: 'qwen3_5_text',
  names: 'Qwen 3.5 and 3.6, dense',
  defaults: {
    ...QWEN3_5_DEFAULTS,
    hidden_size: 4096,
    intermediate_size: 12_288,
    num_hidden_layers: 32,
    num_key_value_heads: 4,
  },
  readsLayerTypes: true,
  read: (keys, reader) =>
    readQwen3_5Layers(keys, reader, () => ({ intermediateSize: keys.intermediate_size })),
};

export const qwen3_5Moe: Architecture = {
  modelType: 'qwen3_5_moe_text',
  names: 'Qwen 3.5 and 3.6, MoE',
  defaults: {
    ...QWEN3_5_DEFAULTS,
    hidden_size: 2048,
    // Of dense layers, which there are none of.
    intermediate_size: 512,
    num_hidden_layers: 40,
    num_key_value_heads: 2,
    num_experts: 256,
    num_experts_per_tok: 8,
    moe_intermediate_size: 512,
    shared_expert_intermediate_size: 512,
  },
  readsLayerTypes: true,
  read: (keys, reader) => ({
    experts: readExperts(keys, reader, {
      countKey: 'num_experts',
      intermediateSize: keys.moe_intermediate_size!,
      modules: GATED_SHARED_EXPERT_MODULES,
    }),
    ...readQwen3_5Layers(keys, reader, () => ({ intermediateSize: keys.shared_expert_intermediate_size! })),
  }),
};

/** What all of them have in common. `mlp`: of a layer, of its MLP or of the expert that all tokens share. */
export function readQwen3_5Layers(
  keys: ConfigKeys,
  reader: ConfigReader,
  mlp: (layer: number) => { readonly hasExperts?: boolean; readonly intermediateSize: number },
): DecoderFeatures {
  if (keys.attn_output_gate === false) reader.refuse('attn_output_gate', 'must be absent or true');
  const isLinear = allButEvery(keys.full_attention_interval!);
  const pattern = (layer: number) => !isLinear(layer);
  const isAttention = attentionLayers(keys, reader, { other: 'linear_attention', pattern });
  const recurrent = readDeltaNet(keys, reader);
  return {
    gatesAttention: true,
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    queryKeyNorm: 'head',
    norm: { kind: 'rms', epsilon: keys.rms_norm_eps!, weightOffset: 1, hasBias: false },
    ropes: [reader.rope({ defaultPartialFactor: 0.25 })],
    layer: index => ({
      ...mlp(index),
      window: undefined,
      ...(isAttention(index) ? { rope: 0 } : { rope: undefined, recurrent }),
    }),
  };
}

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
    keysInTurns: false,
    valueSize: vectorSize('linear_value_head_dim', keys.linear_value_head_dim!, reader),
  };
}
