// EXAONE 4: norms after attention and MLP in place of those before them, norms on queries and keys, and in the larger model
// windows in three of four layers, where the others do not rotate.
// Source: transformers, models/exaone4/modeling_exaone4.py

import type { Architecture } from './architecture.ts';
import { allButEvery, slidingLayers, windowLength } from './layer-windows.ts';

export const exaone4: Architecture = {
  modelType: 'exaone4',
  names: 'EXAONE 4',
  defaults: { rms_norm_eps: 1e-5, sliding_window: 4096 },
  readsLayerTypes: true,
  read(keys, reader) {
    const isHybrid = keys.sliding_window !== null;
    const period = keys.sliding_window_pattern ?? 4;
    const isListed = (keys.layer_types ?? null) !== null;
    if (isHybrid && !isListed && (typeof period === 'string' || period === 0))
      return reader.refuse('sliding_window_pattern', 'must be a whole number above 0 without layer_types');
    const isSliding = slidingLayers(keys, reader, isHybrid ? allButEvery(Number(period)) : () => false);
    if (!isHybrid && keys.layer_types?.includes('sliding_attention'))
      return reader.refuse('sliding_window', 'must be a number: some layers have a window');
    const window = isHybrid ? windowLength(keys, reader) : undefined;
    return {
      queryKeyNorm: 'head',
      ropes: [reader.rope()],
      layer: index => {
        const slides = isSliding(index);
        return { rope: !isHybrid || slides ? 0 : undefined, window: slides ? window : undefined };
      },
      modules: {
        beforeAttention: undefined,
        afterAttention: 'post_attention_layernorm',
        beforeMlp: undefined,
        afterMlp: 'post_feedforward_layernorm',
      },
    };
  },
};
