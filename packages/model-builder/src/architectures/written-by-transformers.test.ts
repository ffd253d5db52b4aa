// Keys as `save_pretrained` of transformers 5 writes them, where published files have others.

import { describe, expect, it } from 'vitest';
import { PATH, parseKeys, SMALL_MODEL } from '../../test/parse-keys.ts';
import { parseDecoderConfig } from './read-decoder-config.ts';

const parse = (keys: Record<string, unknown>) => parseKeys({ num_hidden_layers: 3, head_dim: 32, ...keys });

describe('gemma4_text', () => {
  const gemma4 = {
    ...{ model_type: 'gemma4_text', hidden_size_per_layer_input: 0, sliding_window: 16 },
    ...{ num_experts: null, top_k_experts: null, moe_intermediate_size: null, enable_moe_block: false },
    layer_types: ['full_attention', 'sliding_attention', 'full_attention'],
  };
  const entry = { head_dim: 64, num_key_value_heads: 1 };

  it('says that it has no experts by null', () => {
    expect(parse({ ...gemma4, global_head_dim: 64 }).layers.map(layer => layer.headSize)).toEqual([
      64, 32, 64,
    ]);
  });

  it('attends in both directions within images only', () => {
    expect(parse({ ...gemma4, use_bidirectional_attention: 'vision' }).layerCount).toBe(3);
  });

  it('has the heads of layers without a window in an object for each', () => {
    const { layers, ropes } = parse({ ...gemma4, per_layer_config: { '0': entry, '2': entry } });
    expect(layers.map(({ headSize, kvHeadCount }) => [headSize, kvHeadCount])).toEqual([
      [64, 1],
      [32, 2],
      [64, 1],
    ]);
    expect(ropes[0]!.size).toBe(64);
  });

  it('leaves out what is as in the other layers', () => {
    const { layers } = parse({ ...gemma4, per_layer_config: {} });
    expect(layers.map(({ headSize, kvHeadCount }) => [headSize, kvHeadCount])).toEqual([
      [32, 2],
      [32, 2],
      [32, 2],
    ]);
  });

  it.each([
    [{ '0': entry }, 'the same for all layers without a window'],
    [{ '0': entry, '1': entry, '2': entry }, 'head_dim for layer 1'],
    [{ '0': { sliding_window: 4 } }, 'sliding_window for layer 0'],
    [{ '0': entry, '2': entry, '07': entry }, 'an entry for layer 7'],
    [{ '0': { head_dim: 'wide' }, '2': entry }, 'not a whole number'],
    [{ '0': { head_dim: 24 }, '2': { head_dim: 24 } }, 'multiples of 16'],
  ])('is refused with layers %j', (layers, message) => {
    expect(() => parse({ ...gemma4, per_layer_config: layers })).toThrow(message);
  });
});

it('nemotron_h has as many layers as the list of their kinds', () => {
  const { num_hidden_layers: _, ...rest } = SMALL_MODEL;
  const layers_block_type = ['linear_attention', 'full_attention', 'mlp', 'linear_attention'];
  const keys = { ...rest, head_dim: 32, model_type: 'nemotron_h', layers_block_type };
  expect(parseDecoderConfig(PATH, keys).layerCount).toBe(4);
});

it.each(['gpt_oss', 'mixtral'])(
  '%s has a rotary base in rope_parameters other than its default',
  model_type => {
    const rope_parameters = { rope_type: 'default', rope_theta: 777 };
    expect(parse({ model_type, num_local_experts: 4, rope_parameters }).ropes[0]!.theta).toBe(777);
  },
);

it('qwen2_moe has a window of 0 where it is off', () => {
  const keys = { model_type: 'qwen2_moe', use_sliding_window: false, sliding_window: 0 };
  expect(parse(keys).layers.map(layer => layer.window)).toEqual([undefined, undefined, undefined]);
});

it('a window of 0 that is on is refused', () => {
  expect(() => parse({ model_type: 'mistral', sliding_window: 0 })).toThrow('sliding_window');
});

it.each([
  ['qwen3_moe', 'num_local_experts'],
  ['olmoe', 'num_local_experts'],
  ['mixtral', 'num_experts'],
  ['granitemoe', 'num_experts'],
  ['deepseek_v3', 'num_local_experts'],
])('%s has its number of experts also as %s', (model_type, key) => {
  const latent = { kv_lora_rank: 16, q_lora_rank: 16, qk_rope_head_dim: 16, qk_nope_head_dim: 16 };
  const rest =
    model_type === 'deepseek_v3' ? { ...latent, num_key_value_heads: 4, n_group: 1, topk_group: 1 } : {};
  const keys = { model_type, [key]: 12, layer_types: undefined, ...rest };
  expect(parse(keys).experts?.count).toBe(12);
});
