// Gemma 1 to 3: norms whose weights are stored less one, a scaled embedding, GELU in the gate. Gemma 2 adds norms after
// attention and MLP, windows and soft caps; Gemma 3 has norms on queries and keys in their place, and a rotation of its own in
// layers with a window.
// Source: transformers, models/gemma, models/gemma2 and models/gemma3

import type { Architecture, DecoderFeatures } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { allButEvery, slidingLayers, windowLength } from './layer-windows.ts';

export const GELU_TANH = { gelu_pytorch_tanh: 'gelu-tanh' } as const;

function common(keys: ConfigKeys): DecoderFeatures {
  const bias = keys.attention_bias ?? false;
  return {
    qkvBias: bias,
    attentionOutputBias: bias,
    embeddingScale: Math.fround(Math.sqrt(keys.hidden_size)),
    norm: { kind: 'rms', epsilon: keys.rms_norm_eps ?? 1e-6, weightOffset: 1, hasBias: false },
  };
}

export const SANDWICH = {
  afterAttention: 'post_attention_layernorm',
  beforeMlp: 'pre_feedforward_layernorm',
  afterMlp: 'post_feedforward_layernorm',
} as const;

export const gemma: Architecture = {
  modelType: 'gemma',
  names: 'Gemma 1, CodeGemma',
  defaults: { head_dim: 256, tie_word_embeddings: true },
  // The first published configurations say "gelu" and mean the approximation.
  activations: { ...GELU_TANH, gelu: 'gelu-tanh' },
  read: common,
};

export const gemma2: Architecture = {
  modelType: 'gemma2',
  names: 'Gemma 2',
  defaults: {
    head_dim: 256,
    num_key_value_heads: 4,
    tie_word_embeddings: true,
    sliding_window: 4096,
    query_pre_attn_scalar: 256,
    attn_logit_softcapping: 50,
    final_logit_softcapping: 30,
  },
  activations: GELU_TANH,
  activationKey: 'hidden_activation',
  readsLayerTypes: true,
  read(keys, reader) {
    const isSliding = slidingLayers(keys, reader, allButEvery(2));
    const window = windowLength(keys, reader);
    return {
      ...common(keys),
      ...scoreSettings(keys),
      attentionSoftcap: keys.attn_logit_softcapping ?? undefined,
      ropes: [reader.rope()],
      layer: index => ({ rope: 0, window: isSliding(index) ? window : undefined }),
      modules: SANDWICH,
    };
  },
};

export const gemma3: Architecture = {
  modelType: 'gemma3_text',
  names: 'Gemma 3 270M and 1B, FunctionGemma',
  // Published configurations leave out most of what transformers takes by default.
  defaults: {
    vocab_size: 262_208,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    max_position_embeddings: 131_072,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: true,
    sliding_window: 4096,
    query_pre_attn_scalar: 256,
  },
  activations: GELU_TANH,
  activationKey: 'hidden_activation',
  readsLayerTypes: true,
  read(keys, reader) {
    const period = keys.sliding_window_pattern ?? 6;
    if (typeof period === 'string' || period === 0)
      return reader.refuse('sliding_window_pattern', 'must be a whole number above 0');
    const isSliding = slidingLayers(keys, reader, allButEvery(period));
    const window = windowLength(keys, reader);
    return {
      ...common(keys),
      ...scoreSettings(keys),
      // The key attn_logit_softcapping is there, but no implementation of Gemma 3 caps scores.
      queryKeyNorm: 'head',
      ropes: [
        reader.rope({ layerType: 'full_attention', defaultTheta: 1_000_000 }),
        reader.rope({ layerType: 'sliding_attention', thetaKey: 'rope_local_base_freq', isScaled: false }),
      ],
      layer: index => (isSliding(index) ? { rope: 1, window } : { rope: 0, window: undefined }),
      modules: SANDWICH,
    };
  },
};

function scoreSettings(keys: ConfigKeys): DecoderFeatures {
  return {
    attentionScale: (keys.query_pre_attn_scalar ?? 256) ** -0.5,
    logitSoftcap: keys.final_logit_softcapping ?? undefined,
  };
}
