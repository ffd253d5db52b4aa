import type { GgufValue } from '@ortler/gguf';
import { expect, it } from 'vitest';
import { ConfigFields } from './config-fields.ts';
import { gemma4 } from './gemma-architectures.ts';

function keysOf(metadata: Readonly<Record<string, GgufValue>>) {
  const named = Object.entries(metadata).map(([key, value]) => [`gemma4.${key}`, value] as const);
  const common = [
    ['gemma4.attention.key_length_swa', 256],
    ['gemma4.feed_forward_length', 96],
  ] as const;
  const fields = new ConfigFields({
    path: 'model.gguf',
    metadata: new Map<string, GgufValue>([...common, ...named]),
  } as never);
  const facts = { fields, headSize: 512, hiddenSize: 64, headCount: 2, ropeFactors: undefined };
  return gemma4.configKeys!({
    ...facts,
    has: () => true,
    hasInLayers: () => true,
    rowCount: () => undefined,
  });
}

it.each([
  [[true, false], 2, 2, 2],
  [[false, true], 2, 2, 2],
  [[true, false], Uint32Array.of(4, 1), 4, 1],
  [[false, true], Uint32Array.of(1, 4), 4, 1],
])('reads heads of keys of layers %j from %j', (pattern, counts, sliding, full) => {
  const keys = keysOf({
    'attention.sliding_window_pattern': pattern,
    'attention.head_count_kv': counts,
  });
  expect(keys).toMatchObject({ num_key_value_heads: sliding, num_global_key_value_heads: full });
});
