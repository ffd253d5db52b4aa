// Qwen 2 and 2.5: biases on queries, keys and values always, nowhere else.
// Source: transformers, models/qwen2/modeling_qwen2.py

import type { Architecture } from './architecture.ts';
import { QWEN_WINDOW_DEFAULTS, qwenLayers } from './qwen-windows.ts';

export const qwen2: Architecture = {
  modelType: 'qwen2',
  names: 'Qwen 1.5 to 2.5, QwQ, DeepSeek R1 Distill Qwen',
  defaults: QWEN_WINDOW_DEFAULTS,
  readsLayerTypes: true,
  read: (keys, reader) => ({ qkvBias: true, ...qwenLayers(keys, reader) }),
};
