import { describe, expect, it } from 'vitest';
import { PATH, parseKeys } from '../../test/parse-keys.ts';

const parse = (keys: Record<string, unknown>) => parseKeys({ head_dim: 32, ...keys });

describe('a value that stands for nothing has no effect where the model type does not read the key', () => {
  it.each([
    ['qwen3_moe (Qwen3-Coder)', { model_type: 'qwen3_moe', shared_expert_intermediate_size: 0 }],
    [
      'hunyuan_v1_moe (Hunyuan-A13B)',
      {
        ...{
          model_type: 'hunyuan_v1_moe',
          num_experts: 8,
          moe_topk: [2, 2],
          moe_intermediate_size: [128, 128],
        },
        ...{ kv_lora_rank: null, q_lora_rank: null, qk_nope_head_dim: null, qk_rope_head_dim: null },
        ...{ v_head_dim: null, n_group: false, topk_group: false, topk_method: null },
        ...{ routed_scaling_factor: false, num_shared_expert: [1, 1] },
      },
    ],
    ['llama', { model_type: 'llama', sliding_window: -1, mamba_n_heads: null }],
  ])('%s', (_, keys) => {
    expect(parse(keys).layerCount).toBe(2);
  });
});

it.each([
  [{ model_type: 'qwen3_moe', num_experts: -1 }, 'num_experts'],
  [{ model_type: 'mistral', sliding_window: -1 }, 'sliding_window'],
  [{ model_type: 'llama', rope_theta: 'large' }, 'rope_theta'],
  [{ model_type: 'llama', hidden_size: 0, kv_lora_rank: null }, 'hidden_size'],
  [{ model_type: 'llama', kv_lora_rank: null, vocab_size: undefined }, 'vocab_size'],
])('%j is refused by the key that is read', (keys, key) => {
  expect(() => parse(keys)).toThrow(expect.objectContaining({ code: 'config_invalid', key, file: PATH }));
});

it('says that a key is missing', () => {
  expect(() => parse({ model_type: 'llama', vocab_size: undefined })).toThrow('key vocab_size: is missing');
});
