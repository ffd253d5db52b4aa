import { describe, expect, it } from 'vitest';
import { parseAdapterConfig } from './adapter-config.ts';

const PATH = '/adapter/adapter_config.json';
const BASE = { peft_type: 'LORA', r: 8, lora_alpha: 16, target_modules: ['q_proj'] };
const parse = (changes: Record<string, unknown> = {}) => parseAdapterConfig(PATH, { ...BASE, ...changes });

describe('the scale of a module', () => {
  it('is alpha over rank', () => {
    expect(parse().rankOf('model.layers.0.self_attn.q_proj')).toEqual({ rank: 8, scale: 2 });
  });

  it('is alpha over the root of the rank with use_rslora', () => {
    expect(parse({ r: 4, use_rslora: true }).rankOf('q_proj')).toEqual({ rank: 4, scale: 8 });
  });

  it('follows the first pattern that names the module by its last parts, or whole after a caret', () => {
    const config = parse({
      rank_pattern: { '^layers.0.q_proj': 2, q_proj: 4 },
      alpha_pattern: { 'layers.1.q_proj': 1 },
    });
    expect(config.rankOf('layers.0.q_proj')).toEqual({ rank: 2, scale: 8 });
    expect(config.rankOf('layers.1.q_proj')).toEqual({ rank: 4, scale: 0.25 });
    expect(config.rankOf('layers.1.other_q_proj')).toEqual({ rank: 8, scale: 2 });
  });
});

describe('a target', () => {
  it('is named by its last parts', () => {
    const { isTarget } = parse();
    expect(['layers.0.q_proj', 'q_proj', 'layers.0.kq_proj'].map(isTarget)).toEqual([true, true, false]);
  });

  it('may be anything when target_modules is a pattern or absent', () => {
    expect(parse({ target_modules: '.*_proj' }).isTarget('x')).toBe(true);
    expect(parse({ target_modules: null }).isTarget('x')).toBe(true);
  });
});

it('takes keys that have no effect, and empty ones that it does not know', () => {
  const harmless = { lora_dropout: 0.1, base_model_name_or_path: 'x', megatron_core: 'megatron.core' };
  expect(() => parse({ ...harmless, use_dora: false, loftq_config: {}, later_idea: null })).not.toThrow();
});

it.each([
  ['peft_type', 'IA3', 'unsupported'],
  ['bias', 'all', 'unsupported'],
  ['fan_in_fan_out', true, 'unsupported'],
  ['modules_to_save', ['lm_head'], 'unsupported'],
  ['use_dora', true, 'unsupported'],
  ['lora_bias', true, 'unsupported'],
  ['init_lora_weights', 'pissa', 'unsupported'],
  ['layer_replication', [[0, 2]], 'unsupported'],
  ['later_idea', 3, 'unsupported'],
  ['r', 0, 'config_invalid'],
  ['r', 1.5, 'config_invalid'],
  ['lora_alpha', '16', 'config_invalid'],
])('refuses %s: %j by its name', (key, value, code) => {
  expect(() => parse({ [key]: value })).toThrow(
    expect.objectContaining({
      code,
      file: PATH,
      key,
      message: expect.stringContaining(`${PATH}, key ${key}: `),
    }),
  );
});

it('refuses patterns that are regular expressions', () => {
  expect(() => parse({ rank_pattern: { '.*q_proj': 4 } })).toThrow(
    expect.objectContaining({ code: 'unsupported', key: 'rank_pattern..*q_proj' }),
  );
});
