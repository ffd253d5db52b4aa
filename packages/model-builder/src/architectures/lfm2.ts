// LFM2: short convolutions with gates in most layers, attention with norms of query and key heads in the others; dense, or with
// experts in all but the first layers.
// Source: transformers, models/lfm2/modeling_lfm2.py, configuration_lfm2.py, and models/lfm2_moe/modeling_lfm2_moe.py

import type { ExpertModules } from '../hugging-face/experts-config.ts';
import type { Architecture, ConfigReader, DecoderFeatures } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { attentionLayers, kernelLength, vectorSize } from './layer-kinds.ts';
import { readExperts } from './read-experts.ts';

const DEFAULTS = {
  vocab_size: 65_536,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  max_position_embeddings: 128_000,
  norm_eps: 1e-5,
  tie_word_embeddings: true,
  conv_L_cache: 3,
  conv_bias: false,
} as const;

export const lfm2: Architecture = {
  modelType: 'lfm2',
  names: 'LFM2, LFM2.5',
  defaults: { ...DEFAULTS, hidden_size: 2560, intermediate_size: 12_288 },
  readsLayerTypes: true,
  read(keys, reader) {
    const listed = keys.full_attn_idxs ?? undefined;
    const pattern = (layer: number) => listed?.includes(layer) ?? true;
    const intermediateSize = adjustedSize(keys);
    return readLayers(keys, reader, { pattern, mlp: () => ({ intermediateSize }) });
  },
};

const EXPERTS: ExpertModules = {
  router: 'feed_forward.gate',
  selectionBias: 'feed_forward.expert_bias',
  matrices: {
    layout: 'single',
    gate: 'feed_forward.experts.*.w1',
    up: 'feed_forward.experts.*.w3',
    down: 'feed_forward.experts.*.w2',
    joined: {
      layout: 'rows',
      gateUp: 'feed_forward.experts.gate_up_proj',
      down: 'feed_forward.experts.down_proj',
    },
  },
  shared: undefined,
};

export const lfm2Moe: Architecture = {
  modelType: 'lfm2_moe',
  names: 'LFM2-8B-A1B',
  defaults: {
    ...DEFAULTS,
    hidden_size: 2048,
    intermediate_size: 7168,
    moe_intermediate_size: 1792,
    num_dense_layers: 2,
    num_experts: 32,
    num_experts_per_tok: 4,
  },
  readsLayerTypes: true,
  read(keys, reader) {
    const pattern = () => reader.invalid('layer_types', 'is missing');
    const isDense = (layer: number) => layer < keys.num_dense_layers!;
    const dense = { hasExperts: false, intermediateSize: keys.intermediate_size };
    return {
      experts: readExperts(keys, reader, {
        countKey: 'num_experts',
        intermediateSize: keys.moe_intermediate_size!,
        scoring: 'sigmoid',
        isNormalised: keys.norm_topk_prob ?? true,
        scale: keys.routed_scaling_factor ?? 1,
        modules: keys.use_expert_bias === false ? { ...EXPERTS, selectionBias: undefined } : EXPERTS,
      }),
      ...readLayers(keys, reader, { pattern, mlp: index => (isDense(index) ? dense : {}) }),
    };
  },
};

/** What both have in common. `pattern`: whether a layer has attention, where config.json does not list it. */
function readLayers(
  keys: ConfigKeys,
  reader: ConfigReader,
  {
    pattern,
    mlp,
  }: {
    readonly pattern: (layer: number) => boolean;
    readonly mlp: (layer: number) => { readonly hasExperts?: boolean; readonly intermediateSize?: number };
  },
): DecoderFeatures {
  const isAttention = attentionLayers(keys, reader, { other: 'conv', pattern });
  vectorSize('hidden_size', keys.hidden_size, reader);
  const recurrent = {
    kind: 'short-convolution',
    kernel: kernelLength('conv_L_cache', keys.conv_L_cache!, reader),
    hasBias: keys.conv_bias!,
  } as const;
  return {
    tiedEmbeddings: keys.tie_embedding ?? keys.tie_word_embeddings!,
    queryKeyNorm: 'head',
    norm: { kind: 'rms', epsilon: keys.norm_eps!, weightOffset: 0, hasBias: false },
    ropes: [reader.rope({ defaultTheta: 1_000_000 })],
    layer: index => ({
      ...mlp(index),
      window: undefined,
      ...(isAttention(index) ? { rope: 0 } : { rope: undefined, recurrent }),
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
      recurrent: { ...NO_MODULES, input: 'conv.in_proj', convolution: 'conv.conv', output: 'conv.out_proj' },
    },
  };
}

/** A short convolution has no others. */
const NO_MODULES = {
  gateInputDecay: undefined,
  gate: '',
  beta: '',
  decay: '',
  decayLog: '',
  decayBias: '',
  skip: '',
  norm: '',
};

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
