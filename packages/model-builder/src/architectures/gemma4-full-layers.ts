// The heads of Gemma 4's layers without a window: in published files by keys for all of them, and where transformers has written
// config.json, by an object for each layer.
// Source: transformers, models/gemma4/configuration_gemma4.py

import type { ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';

export interface FullLayers {
  readonly headSize: number;
  readonly kvHeadCount: number;
}

const LAYER_KEYS = ['head_dim', 'num_key_value_heads'];
const ALLOWED = `${LAYER_KEYS.join(' and ')} of layers without a window`;

/** Throws: `config_invalid`, `unsupported`. */
export function fullLayers(
  keys: ConfigKeys,
  reader: ConfigReader,
  isSliding: (index: number) => boolean,
): FullLayers {
  const isListed = keys.per_layer_config !== undefined;
  const full = isListed ? fromEachLayer(keys, reader, isSliding) : fromGlobalKeys(keys);
  const [sizeKey, countKey] = isListed
    ? ['per_layer_config', 'per_layer_config']
    : ['global_head_dim', 'num_global_key_value_heads'];
  if (full.headSize % 16 !== 0) reader.refuse(sizeKey, `is ${full.headSize}; allowed: multiples of 16`);
  if (keys.num_attention_heads % full.kvHeadCount !== 0)
    reader.invalid(countKey, `is ${full.kvHeadCount}; it must divide num_attention_heads`);
  return full;
}

function fromGlobalKeys(keys: ConfigKeys): FullLayers {
  const own = keys.attention_k_eq_v ? keys.num_global_key_value_heads : undefined;
  return { headSize: keys.global_head_dim!, kvHeadCount: own ?? keys.num_key_value_heads! };
}

/** All layers without a window must have the same keys, and the others none. */
function fromEachLayer(
  keys: ConfigKeys,
  reader: ConfigReader,
  isSliding: (index: number) => boolean,
): FullLayers {
  const entries = new Map(
    Object.entries(keys.per_layer_config ?? {}).map(([name, entry]) => [Number(name), entry]),
  );
  const refuse = (message: string): never => reader.refuse('per_layer_config', message);
  const found: FullLayers[] = [];
  for (let index = 0; index < keys.num_hidden_layers; index++) {
    const entry = entries.get(index) ?? {};
    entries.delete(index);
    const other = Object.keys(entry).find(key => isSliding(index) || !LAYER_KEYS.includes(key));
    if (other !== undefined) refuse(`has ${other} for layer ${index}; allowed: ${ALLOWED}`);
    if (!isSliding(index)) found.push(readEntry(keys, reader, entry));
  }
  const [stray] = entries.keys();
  if (stray !== undefined) refuse(`has an entry for layer ${stray}, which the model does not have`);
  const full = found[0]!;
  const isSame = ({ headSize, kvHeadCount }: FullLayers) =>
    headSize === full.headSize && kvHeadCount === full.kvHeadCount;
  return found.every(isSame) ? full : refuse('must be the same for all layers without a window');
}

function readEntry(keys: ConfigKeys, reader: ConfigReader, entry: object): FullLayers {
  const { head_dim: headSize = keys.head_dim, num_key_value_heads: kvHeadCount = keys.num_key_value_heads } =
    entry as Readonly<Record<string, unknown>>;
  if (isSize(headSize) && isSize(kvHeadCount)) return { headSize, kvHeadCount };
  return reader.invalid('per_layer_config', 'has a size that is not a whole number above 0');
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0;
}
