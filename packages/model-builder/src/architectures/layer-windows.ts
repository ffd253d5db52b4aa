// Which layers see a window of the last tokens only.

import type { ConfigReader, LayerPlan } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';

const SLIDING = 'sliding_attention';
const LAYER_TYPES = ['full_attention', SLIDING];

/**
 * Whether a layer has a window: by `layer_types`, or where config.json has none, by the pattern of the model type.
 *
 * Throws: `config_invalid`, `unsupported`.
 */
export function slidingLayers(
  { layer_types: types, num_hidden_layers: layerCount }: ConfigKeys,
  reader: ConfigReader,
  pattern: (layer: number) => boolean,
): (layer: number) => boolean {
  if (types === null || types === undefined) return pattern;
  const other = types.find(type => !LAYER_TYPES.includes(type));
  if (other !== undefined)
    reader.refuse('layer_types', `holds "${other}"; allowed: ${LAYER_TYPES.join(', ')}`);
  if (types.length !== layerCount)
    reader.invalid('layer_types', `has ${types.length} entries for ${layerCount} layers`);
  return layer => types[layer] === SLIDING;
}

/**
 * The window of layers that have one. Unit: tokens. A window as long as the context limits nothing.
 *
 * Throws: `unsupported` without one, `config_invalid` for 0.
 */
export function windowLength(
  { sliding_window: window, max_position_embeddings: contextLength }: ConfigKeys,
  reader: ConfigReader,
): number | undefined {
  if (window === null || window === undefined)
    return reader.refuse('sliding_window', 'must be a number: some layers have a window');
  if (window === 0) return reader.invalid('sliding_window', 'is 0, but some layers have a window');
  return window < contextLength ? window : undefined;
}

/** All but every `period`-th layer. */
export function allButEvery(period: number): (layer: number) => boolean {
  return layer => (layer + 1) % period !== 0;
}

/** The same window, if any, and the same rotation in all layers. */
export function uniformLayers(
  keys: ConfigKeys,
  reader: ConfigReader,
  rope: LayerPlan['ropes'][number] = reader.rope(),
): LayerPlan {
  const window = keys.sliding_window === null ? undefined : windowLength(keys, reader);
  return { ropes: [rope], layer: () => ({ rope: 0, window }) };
}
