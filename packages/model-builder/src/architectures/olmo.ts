// OLMo 2 and 3: norms after attention and MLP in place of those before them, and norms over all queries and all keys. OLMo 3 has
// windows in three of four layers; its scaling of rotations is for the others.
// Source: transformers, models/olmo2/modeling_olmo2.py and models/olmo3/modeling_olmo3.py

import type { Architecture, ConfigReader, DecoderFeatures } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { allButEvery, slidingLayers, windowLength } from './layer-windows.ts';

function common(keys: ConfigKeys): DecoderFeatures {
  const bias = keys.attention_bias ?? false;
  return {
    qkvBias: bias,
    attentionOutputBias: bias,
    queryKeyNorm: 'width',
    modules: {
      beforeAttention: undefined,
      afterAttention: 'post_attention_layernorm',
      beforeMlp: undefined,
      afterMlp: 'post_feedforward_layernorm',
    },
  };
}

export const olmo2: Architecture = {
  modelType: 'olmo2',
  names: 'OLMo 2',
  defaults: { rms_norm_eps: 1e-5 },
  read: common,
};

const OLMO3_THETA = 500_000;

/** Transformers 5 takes `rope_theta` for the layers without a window only, version 4 for all. */
function refuseSharedTheta({ rope_theta: theta }: ConfigKeys, reader: ConfigReader): void {
  if ((theta ?? OLMO3_THETA) === OLMO3_THETA) return;
  const message = `is ${theta}; allowed: ${OLMO3_THETA}, or rope_parameters with a base for each type of layer`;
  reader.refuse('rope_theta', message);
}

export const olmo3: Architecture = {
  modelType: 'olmo3',
  names: 'OLMo 3',
  defaults: { rms_norm_eps: 1e-5, sliding_window: 4096 },
  readsLayerTypes: true,
  read(keys, reader) {
    const isSliding = slidingLayers(keys, reader, allButEvery(4));
    const window = windowLength(keys, reader);
    refuseSharedTheta(keys, reader);
    const defaultTheta = OLMO3_THETA;
    return {
      ...common(keys),
      ropes: [
        reader.rope({ layerType: 'full_attention', defaultTheta }),
        reader.rope({ layerType: 'sliding_attention', defaultTheta, isScaled: false }),
      ],
      layer: index => (isSliding(index) ? { rope: 1, window } : { rope: 0, window: undefined }),
    };
  },
};
