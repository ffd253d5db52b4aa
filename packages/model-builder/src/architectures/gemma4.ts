// Gemma 4, dense: wider heads and fewer keys in the layers without a window, norms of values, and a number that each layer's output is
// multiplied by. The E models have embeddings of their own for each layer, and last layers that attend to the keys and values of
// earlier ones.
// Source: transformers, models/gemma4/modeling_gemma4.py and configuration_gemma4.py

import type { LayerConfig } from '../hugging-face/decoder-config.ts';
import type { Architecture, ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { GELU_TANH, SANDWICH } from './gemma.ts';
import { type FullLayers, fullLayers } from './gemma4-full-layers.ts';
import { allButEvery, slidingLayers, windowLength } from './layer-windows.ts';

export const gemma4: Architecture = {
  modelType: 'gemma4_text',
  names: 'Gemma 4, dense, E2B and E4B',
  defaults: {
    vocab_size: 262_144,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    global_head_dim: 512,
    max_position_embeddings: 131_072,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: true,
    sliding_window: 512,
    vocab_size_per_layer_input: 262_144,
    hidden_size_per_layer_input: 256,
    rope_parameters: {
      sliding_attention: { rope_type: 'default', rope_theta: 10_000 },
      full_attention: { rope_type: 'proportional', partial_rotary_factor: 0.25, rope_theta: 1_000_000 },
    },
  },
  activations: GELU_TANH,
  activationKey: 'hidden_activation',
  readsLayerTypes: true,
  readsLayerConfigs: true,
  read(keys, reader) {
    if (keys.enable_moe_block)
      reader.refuse('enable_moe_block', 'must be absent or false: experts are not built');
    const bias = keys.attention_bias ?? false;
    const size = keys.hidden_size_per_layer_input ?? 0;
    const isSliding = slidingOrLast(keys, reader);
    const full = fullLayers(keys, reader, isSliding);
    return {
      qkvBias: bias,
      attentionOutputBias: bias,
      attentionScale: 1,
      queryKeyNorm: 'head',
      normsValues: true,
      hasLayerScale: true,
      embeddingScale: Math.fround(Math.sqrt(keys.hidden_size)),
      logitSoftcap: keys.final_logit_softcapping ?? undefined,
      perLayerInput: size === 0 ? undefined : { size, vocabSize: perLayerVocabulary(keys, reader) },
      ropes: [
        reader.rope({ layerType: 'full_attention', headSize: full.headSize }),
        reader.rope({ layerType: 'sliding_attention' }),
      ],
      layer: layerReader(keys, reader, isSliding, full),
      modules: { ...SANDWICH, afterPerLayerInput: 'post_per_layer_input_norm' },
    };
  },
};

function perLayerVocabulary(keys: ConfigKeys, reader: ConfigReader): number {
  const size = keys.vocab_size_per_layer_input!;
  if (size >= keys.vocab_size) return size;
  const key = 'vocab_size_per_layer_input';
  return reader.refuse(key, `is ${size}; it must be at least vocab_size, ${keys.vocab_size}`);
}

type Layer = Partial<LayerConfig> & Pick<LayerConfig, 'rope' | 'window'>;

/** The last layer has no window, whatever the pattern says. */
function slidingOrLast(keys: ConfigKeys, reader: ConfigReader): (index: number) => boolean {
  const pattern = slidingLayers(keys, reader, allButEvery(6));
  return index => index < keys.num_hidden_layers - 1 && pattern(index);
}

function layerReader(
  keys: ConfigKeys,
  reader: ConfigReader,
  isSliding: (index: number) => boolean,
  full: FullLayers,
): (index: number) => Layer {
  const { num_hidden_layers: layerCount, num_kv_shared_layers: sharedCount = 0 } = keys;
  const window = windowLength(keys, reader);
  const valuesAreKeys = keys.attention_k_eq_v ?? false;
  const firstShared = layerCount - sharedCount;
  const sourceOf = (index: number): number => {
    for (let source = firstShared - 1; source >= 0; source--)
      if (isSliding(source) === isSliding(index)) return source;
    const message = `is ${sharedCount}: no layer before the shared ones has the type of layer ${index}`;
    return reader.invalid('num_kv_shared_layers', message);
  };
  return index => {
    const isShared = index >= firstShared;
    const own = isSliding(index)
      ? { rope: 1, window }
      : { rope: 0, window: undefined, ...full, valuesAreKeys };
    if (!isShared) return own;
    const intermediateSize = keys.intermediate_size * (keys.use_double_wide_mlp ? 2 : 1);
    return { ...own, intermediateSize, kvSource: sourceOf(index) };
  };
}
