// Cohere Command R7B and A: attention and MLP side by side after one layer norm, rotations of neighbouring elements in the layers
// with a window, and none in the others.
// Source: transformers, models/cohere2/modeling_cohere2.py

import type { Architecture } from './architecture.ts';
import { allButEvery, slidingLayers, windowLength } from './layer-windows.ts';

export const cohere2: Architecture = {
  modelType: 'cohere2',
  names: 'Command R7B, Aya Expanse',
  defaults: { tie_word_embeddings: true, sliding_window: 4096, layer_norm_eps: 1e-5, logit_scale: 0.0625 },
  readsLayerTypes: true,
  read(keys, reader) {
    const period = keys.sliding_window_pattern ?? 4;
    if (typeof period === 'string' || period === 0)
      return reader.refuse('sliding_window_pattern', 'must be a whole number above 0');
    const isSliding = slidingLayers(keys, reader, allButEvery(period));
    const window = windowLength(keys, reader);
    const bias = keys.attention_bias ?? false;
    return {
      qkvBias: bias,
      attentionOutputBias: bias,
      isParallel: true,
      logitScale: keys.logit_scale ?? 1,
      norm: { kind: 'layer', epsilon: keys.layer_norm_eps!, weightOffset: 0, hasBias: false },
      ropes: [reader.rope({ isInterleaved: true })],
      layer: index => (isSliding(index) ? { rope: 0, window } : { rope: undefined, window: undefined }),
      modules: { beforeMlp: undefined },
    };
  },
};
