import type { GgufValue } from '@ortler/gguf';
import { describe, expect, it } from 'vitest';
import { ConfigFields } from './config-fields.ts';

function scalingOf(metadata: Readonly<Record<string, GgufValue>>) {
  const yarn = { type: 'yarn', factor: 8, original_context_length: 8192 };
  const entries = Object.entries({ ...yarn, ...metadata }).map(
    ([key, value]) => [`olmo2.rope.scaling.${key}`, value] as const,
  );
  return new ConfigFields({ path: 'model.gguf', metadata: new Map(entries) } as never).ropeScaling('olmo2');
}

describe('factors of yarn', () => {
  // As in the files of OLMo 3, whose config.json has the factor.
  const amplitude = Math.fround(0.1 * Math.log(8) + 1);
  const plain = scalingOf({});

  it.each([{ yarn_attn_factor: amplitude }, { yarn_ext_factor: 1, attn_factor: 1 }])(
    'may be what the rotation has without them: %j',
    factors => {
      expect(scalingOf(factors)).toEqual(plain);
    },
  );

  it.each([
    ['yarn_attn_factor', 1],
    ['yarn_ext_factor', 0.5],
    ['attn_factor', 1.2],
  ])('are refused where %s is %d', (name, value) => {
    expect(() => scalingOf({ [name]: value })).toThrow(
      expect.objectContaining({ code: 'unsupported', key: `olmo2.rope.scaling.${name}` }),
    );
  });

  it('follow the multiplier of the logarithm', () => {
    const scaled = { yarn_log_multiplier: 1, yarn_attn_factor: 1 };
    expect(scalingOf(scaled)).toMatchObject({ mscale: 1, mscale_all_dim: 1 });
  });
});
