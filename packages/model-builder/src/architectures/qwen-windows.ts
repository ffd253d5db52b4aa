// Sliding windows of Qwen 2 and 3: on where `use_sliding_window` says so, in the layers from `max_window_layers` on.

import type { ConfigReader, LayerPlan } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { slidingLayers, windowLength } from './layer-windows.ts';

export const QWEN_WINDOW_DEFAULTS = { sliding_window: 4096, max_window_layers: 28 } as const;

/** `pattern`: which layers have a window, where they have one. Throws: `config_invalid`, `unsupported`. */
export function qwenLayers(
  keys: ConfigKeys,
  reader: ConfigReader,
  pattern = (layer: number) => layer >= (keys.max_window_layers ?? 0),
): LayerPlan {
  const isOn = keys.use_sliding_window === true && keys.sliding_window !== null;
  const isSliding = slidingLayers(keys, reader, layer => isOn && pattern(layer));
  if (!isOn && keys.layer_types?.includes('sliding_attention'))
    reader.refuse('layer_types', 'holds "sliding_attention", but use_sliding_window is off');
  const window = isOn ? windowLength(keys, reader) : undefined;
  return {
    ropes: [reader.rope()],
    layer: index => ({ rope: 0, window: isSliding(index) ? window : undefined }),
  };
}
