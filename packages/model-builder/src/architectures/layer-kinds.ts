// Which layers have attention and which are recurrent, and the sizes that the operators of recurrent layers
// take.

import type { ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';

const ATTENTION = 'full_attention';
/** As transformers reads older names. */
const OLDER_NAMES: Readonly<Record<string, string>> = { attention: ATTENTION, mamba: 'linear_attention' };

/**
 * Whether a layer has attention: by `layer_types`, or where config.json has none, by the pattern of the model type.
 *
 * Throws: `config_invalid`, `unsupported`.
 */
export function attentionLayers(
  { layer_types: listed, num_hidden_layers: layerCount }: ConfigKeys,
  reader: ConfigReader,
  { other, pattern }: { readonly other: string; readonly pattern: (layer: number) => boolean },
): (layer: number) => boolean {
  if (listed === null || listed === undefined) return pattern;
  const types = listed.map(type => OLDER_NAMES[type] ?? type);
  const unknown = types.find(type => type !== ATTENTION && type !== other);
  if (unknown !== undefined)
    reader.refuse('layer_types', `holds "${unknown}"; allowed: ${ATTENTION}, ${other}`);
  if (types.length !== layerCount)
    reader.invalid('layer_types', `has ${types.length} entries for ${layerCount} layers`);
  return layer => types[layer] === ATTENTION;
}

/** Source: `MAX_KERNEL` of `packages/kernels/c/convolution.h`. */
const LONGEST_KERNEL = 8;

/** Throws: `unsupported` for a length that the operator does not have. */
export function kernelLength(key: string, length: number, reader: ConfigReader): number {
  if (length >= 2 && length <= LONGEST_KERNEL) return length;
  return reader.refuse(key, `is ${length}; allowed: 2 to ${LONGEST_KERNEL}`);
}

/** Throws: `unsupported` for sizes that are not whole vectors. */
export function vectorSize(
  key: string,
  size: number,
  reader: ConfigReader,
  largest = Number.POSITIVE_INFINITY,
): number {
  if (size % 16 !== 0) reader.refuse(key, `is ${size}; allowed: multiples of 16`);
  if (size > largest) reader.refuse(key, `is ${size}; at most ${largest} is allowed`);
  return size;
}
