// Qwen 3, dense: norms on query and key heads, and a head size that does not follow from the hidden size.
// Source: transformers, models/qwen3/modeling_qwen3.py and configuration_qwen3.py

import type { Architecture } from './architecture.ts';
import { QWEN_WINDOW_DEFAULTS, qwenLayers } from './qwen-windows.ts';

export const qwen3: Architecture = {
  modelType: 'qwen3',
  names: 'Qwen 3, dense',
  defaults: { head_dim: 128, ...QWEN_WINDOW_DEFAULTS },
  readsLayerTypes: true,
  read: (keys, reader) => ({
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    queryKeyNorm: 'head',
    ...qwenLayers(keys, reader),
  }),
};
