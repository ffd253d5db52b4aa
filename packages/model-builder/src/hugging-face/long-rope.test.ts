import { describe, expect, it } from 'vitest';
import { parseDecoderConfig } from '../architectures/read-decoder-config.ts';
import { forContext, longRopeChoice } from './long-rope.ts';

const BASE = {
  model_type: 'phi3',
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  vocab_size: 64,
  max_position_embeddings: 512,
};
const FACTORS = Array.from({ length: 8 }, () => 1);
const LONGROPE = {
  ...BASE,
  original_max_position_embeddings: 128,
  rope_scaling: { type: 'longrope', short_factor: FACTORS, long_factor: FACTORS },
};

describe('the longest context of a build decides the factors of LongRoPE', () => {
  const config = parseDecoderConfig('config.json', LONGROPE);

  it.each([
    [undefined, 'long', 512],
    [129, 'long', 512],
    [1_000_000, 'long', 512],
    [128, 'short', 128],
    [16, 'short', 128],
  ] as const)('%s tokens: %s factors, up to %s tokens', (wanted, factors, contextLength) => {
    const chosen = forContext(config, wanted);
    expect(chosen.contextLength).toBe(contextLength);
    expect(longRopeChoice(chosen)).toEqual({ factors, originalContextLength: 128 });
  });

  it('has the short ones in a model that is not stretched', () => {
    const plain = parseDecoderConfig('config.json', { ...LONGROPE, max_position_embeddings: 128 });
    expect(longRopeChoice(plain)?.factors).toBe('short');
  });

  it('changes nothing without LongRoPE', () => {
    const plain = parseDecoderConfig('config.json', BASE);
    expect(forContext(plain, 16)).toBe(plain);
    expect(longRopeChoice(plain)).toBeUndefined();
  });
});
