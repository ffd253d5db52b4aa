// Maps the setting --kv-cache to the KV cache type of a build.

import type { KvType } from '@ortler/engine/graph-contract';
import type { Config } from '../config/config.ts';

const TYPES = { f32: 'float32', f16: 'float16', int8: 'int8' } as const;

/** Undefined for `auto`: the type of an existing build, else the builder's default. */
export function toKvType(kvCache: Config['kvCache']): KvType | undefined {
  return kvCache === 'auto' ? undefined : TYPES[kvCache];
}
