// From the words of the setting to the type of a build's cache.

import type { KvType } from '@ortler/engine/graph-contract';
import type { Config } from '../config/config.ts';

const TYPES = { f32: 'float32', f16: 'float16', int8: 'int8' } as const;

/** Undefined for `auto`: the builder's choice, or what an existing build has. */
export function toKvType(kvCache: Config['kvCache']): KvType | undefined {
  return kvCache === 'auto' ? undefined : TYPES[kvCache];
}
