import { describe, expect, it } from 'vitest';
import { parseKeys, SMALL_MODEL } from '../../test/parse-keys.ts';
import { ModelBuildError } from '../errors.ts';
import { parseDecoderConfig } from './read-decoder-config.ts';

const base = { ...SMALL_MODEL, model_type: 'llama' };

const parse = (keys: Record<string, unknown>) => parseKeys({ ...base, ...keys });

function faultOf(keys: Record<string, unknown>): ModelBuildError {
  try {
    parse(keys);
  } catch (error) {
    if (error instanceof ModelBuildError) return error;
  }
  throw new Error('expected a ModelBuildError');
}

describe('the settings of each model type', () => {
  it('are those of transformers when config.json leaves them out', () => {
    expect(parse({})).toMatchObject({
      headSize: 16,
      ropes: [{ theta: 10_000, size: 16, isInterleaved: false, scaling: { kind: 'none' } }],
      tiedEmbeddings: false,
      qkvBias: false,
      attentionOutputBias: false,
      mlpBias: false,
      queryKeyNorm: 'none',
    });
  });

  it('give llama as many key heads as query heads when none are named', () => {
    expect(parse({ num_key_value_heads: undefined }).kvHeadCount).toBe(4);
  });

  it('give llama its biases from config.json', () => {
    expect(parse({ attention_bias: true, mlp_bias: true })).toMatchObject({
      qkvBias: true,
      attentionOutputBias: true,
      mlpBias: true,
    });
  });

  it('give qwen2 biases on queries, keys and values only', () => {
    expect(parse({ model_type: 'qwen2' })).toMatchObject({ qkvBias: true, attentionOutputBias: false });
  });

  it('give qwen3 norms on queries and keys and heads of 128', () => {
    expect(parse({ model_type: 'qwen3' })).toMatchObject({
      queryKeyNorm: 'head',
      qkvBias: false,
      headSize: 128,
    });
  });

  it('let head_dim differ from hidden_size over heads', () => {
    expect(parse({ head_dim: 32 }).headSize).toBe(32);
  });
});

const LLAMA3 = {
  rope_type: 'llama3',
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 256,
};

describe('rotary settings', () => {
  const scaling = {
    kind: 'llama3',
    factor: 8,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalContextLength: 256,
  };

  it('are read from rope_scaling', () => {
    expect(parse({ rope_scaling: LLAMA3, rope_theta: 5e5 }).ropes).toMatchObject([{ theta: 5e5, scaling }]);
  });

  it('are read from rope_scaling with the older name of the type', () => {
    const [rope] = parse({ rope_scaling: { type: 'linear', factor: 2 } }).ropes;
    expect(rope!.scaling).toEqual({ kind: 'linear', factor: 2 });
  });

  it('are read from rope_parameters, base included', () => {
    const { ropes } = parse({ rope_parameters: { ...LLAMA3, rope_theta: 5e5 } });
    expect(ropes).toMatchObject([{ theta: 5e5, scaling }]);
  });

  it('may be given in both places when they agree', () => {
    expect(parse({ rope_scaling: LLAMA3, rope_parameters: LLAMA3 }).ropes[0]!.scaling).toEqual(scaling);
  });
});

const LONGROPE = {
  type: 'longrope',
  short_factor: [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7],
  long_factor: [2, 3, 4, 5, 6, 7, 8, 9],
};

describe('LongRoPE', () => {
  const longrope = { model_type: 'phi3', original_max_position_embeddings: 128, rope_scaling: LONGROPE };

  it('has both sets of factors, the whole context, and an amplitude by how far it is stretched', () => {
    const { contextLength, ropes } = parse(longrope);
    expect(contextLength).toBe(512);
    const { scaling } = ropes[0]!;
    const { short_factor: shortFactors, long_factor: longFactors } = LONGROPE;
    expect(scaling).toMatchObject({
      kind: 'longrope',
      shortFactors,
      longFactors,
      originalContextLength: 128,
    });
    expect((scaling as { amplitude: number }).amplitude).toBeCloseTo(
      Math.sqrt(1 + Math.log(4) / Math.log(128)),
    );
  });
});

describe('Hunyuan', () => {
  it('stretches the base of its rotation by alpha', () => {
    const rope_scaling = { type: 'dynamic', alpha: 1000, factor: 1 };
    const { ropes } = parse({ model_type: 'hunyuan_v1_dense', rope_scaling });
    expect(ropes[0]).toMatchObject({ theta: 10_000 * 1000 ** (16 / 14), scaling: { kind: 'none' } });
  });
});

describe('config.json is refused', () => {
  it.each<[Record<string, unknown>, string, string]>([
    [
      { model_type: 'mamba' },
      'model_type',
      'is "mamba" (Mamba), which would need support for its recurrent layers',
    ],
    [{ model_type: undefined }, 'model_type', 'is absent; supported: '],
    [{ hidden_act: 'gelu' }, 'hidden_act', 'is "gelu"; allowed: "silu"'],
    [
      { rope_scaling: { rope_type: 'dynamic', factor: 4 } },
      'rope_scaling.rope_type',
      'is "dynamic"; supported: default, linear, llama3, yarn',
    ],
    [{ rope_parameters: { rope_type: 3 } }, 'rope_parameters.rope_type', 'supported: '],
    [
      { model_type: 'hunyuan_v1_dense', rope_scaling: { type: 'dynamic', factor: 2 } },
      'rope_scaling.rope_type',
      'is "dynamic"',
    ],
    [
      { model_type: 'gemma3_text', rope_scaling: { type: 'linear', factor: 2 } },
      'rope_scaling.type',
      'must be named rope_type',
    ],
    [
      {
        model_type: 'gemma3',
        text_config: { ...base, model_type: 'gemma3_text', final_logit_softcapping: 30 },
      },
      'text_config.final_logit_softcapping',
      'must be absent or null',
    ],
    [
      { model_type: 'phi3', rope_scaling: { type: 'linear', factor: 2 } },
      'rope_scaling',
      'is linear; allowed: longrope',
    ],
    [
      { model_type: 'smollm3', layer_types: ['sliding_attention', 'full_attention'] },
      'layer_types',
      'without use_sliding_window',
    ],
    [
      { model_type: 'exaone4', sliding_window: null, layer_types: ['sliding_attention', 'full_attention'] },
      'sliding_window',
      'must be a number',
    ],
    [
      { rope_parameters: { full_attention: { rope_type: 'yarn', factor: 4 } } },
      'rope_parameters.full_attention',
      'all layers must share one setting',
    ],
    [{ is_causal: false }, 'is_causal', 'must be absent or true'],
    [{ per_layer_config: { 1: { rms_norm_eps: 1 } } }, 'per_layer_config', 'must be absent or empty'],
    [{ partial_rotary_factor: 0.5 }, 'partial_rotary_factor', 'must be absent or 1'],
    [
      { rope_parameters: { rope_type: 'default', partial_rotary_factor: 0.5 } },
      'rope_parameters.partial_rotary_factor',
      'must be absent or 1',
    ],
    [{ model_type: 'glm4', head_dim: 32, partial_rotary_factor: null }, 'partial_rotary_factor', 'is null'],
    [
      { model_type: 'nemotron', head_dim: 32, partial_rotary_factor: null },
      'partial_rotary_factor',
      'is null',
    ],
    [{ head_dim: 20 }, 'head_dim', 'is 20; allowed: multiples of 16'],
    [{ num_attention_heads: 6, num_key_value_heads: 3 }, 'head_dim', 'allowed: multiples of 16'],
    [
      { model_type: 'qwen3', layer_types: ['full_attention', 'sliding_attention'] },
      'layer_types',
      'holds "sliding_attention", but use_sliding_window is off',
    ],
    [
      { model_type: 'qwen3', layer_types: ['full_attention', 'chunked_attention'] },
      'layer_types',
      'holds "chunked_attention"; allowed: ',
    ],
    [{ layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types', 'allowed: "full_attention"'],
    [{ use_bidirectional_attention: true }, 'use_bidirectional_attention', 'must be absent, false or'],
    [{ use_bidirectional_attention: 'all' }, 'use_bidirectional_attention', 'must be absent, false or'],
    [
      { model_type: 'gemma2', hidden_activation: 'silu' },
      'hidden_activation',
      'allowed: "gelu_pytorch_tanh"',
    ],
    [
      { model_type: 'gemma3_text', rope_parameters: { rope_theta: 1e4 } },
      'rope_parameters',
      'must have an object for each type of layer',
    ],
    [{ model_type: 'gemma2', sliding_window: null }, 'sliding_window', 'must be a number'],
    [
      { model_type: 'gemma3_text', rope_scaling: { rope_type: 'yarn', factor: 4, truncate: false } },
      'rope_scaling.truncate',
      'must be absent or true',
    ],
    [
      {
        model_type: 'olmo3',
        rope_parameters: { full_attention: { rope_type: 'yarn', factor: 4, truncate: false } },
      },
      'rope_parameters.full_attention.truncate',
      'must be absent or true',
    ],
    [
      {
        model_type: 'olmo3',
        rope_parameters: { full_attention: { rope_type: 'yarn', factor: 4 }, truncate: false },
      },
      'rope_parameters.truncate',
      'must be absent or true',
    ],
  ])('as not supported: %j', (keys, key, message) => {
    const fault = faultOf(keys);
    expect(fault).toMatchObject({ code: 'unsupported', file: 'folder/config.json', key });
    expect(fault.message).toContain(`folder/config.json, key ${key}`);
    expect(fault.message).toContain(message);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ model_type: 'phi3', rope_scaling: { ...LONGROPE, long_factor: [1, 2] } }, 'rope_scaling.long_factor'],
    [{ hidden_size: undefined }, 'hidden_size'],
    [{ vocab_size: '300' }, 'vocab_size'],
    [{ model_type: 'glm4_moe', head_dim: 32, n_routed_experts: 8, topk_group: 0 }, 'topk_group'],
    [{ num_hidden_layers: 0 }, 'num_hidden_layers'],
    [{ num_hidden_layers: 1e9 }, 'num_hidden_layers'],
    [{ max_position_embeddings: 2 ** 31 }, 'max_position_embeddings'],
    [{ rms_norm_eps: -1 }, 'rms_norm_eps'],
    [{ num_key_value_heads: 3 }, 'num_key_value_heads'],
    [{ model_type: 'gemma2', layer_types: ['full_attention'] }, 'layer_types'],
    [{ tie_word_embeddings: 'yes' }, 'tie_word_embeddings'],
    [{ rope_scaling: { rope_type: 'linear' } }, 'rope_scaling.factor'],
    [{ rope_scaling: { ...LONGROPE, short_factor: [1] } }, 'rope_scaling.short_factor'],
    [{ model_type: 'smollm3', no_rope_layers: [1] }, 'no_rope_layers'],
    [{ rope_scaling: { rope_type: 'llama3', factor: 8 } }, 'rope_scaling.low_freq_factor'],
    [{ rope_parameters: { rope_type: 'default', rope_theta: 'big' } }, 'rope_parameters.rope_theta'],
    [
      { rope_scaling: { type: 'linear', factor: 2 }, rope_parameters: { rope_type: 'default' } },
      'rope_parameters',
    ],
    [{ rope_scaling: { rope_type: 'default', rope_theta: 777 }, rope_theta: 1e4 }, 'rope_scaling.rope_theta'],
    [{ rope_parameters: { rope_theta: 777 }, rope_theta: 1e4 }, 'rope_parameters.rope_theta'],
    [
      {
        rope_scaling: LLAMA3,
        original_max_position_embeddings: 64,
      },
      'original_max_position_embeddings',
    ],
  ])('as invalid: %j', (keys, key) => {
    expect(faultOf(keys)).toMatchObject({ code: 'config_invalid', file: 'folder/config.json', key });
  });
});

describe('experts', () => {
  const ernie = { model_type: 'ernie4_5_moe', num_hidden_layers: 4, moe_num_experts: 8, moe_k: 2 };
  const hunyuan = { model_type: 'hunyuan_v1_moe', num_experts: 8, moe_topk: [2, 2] };

  it('are in the layers of ernie4_5_moe that its start, end and interval name', () => {
    const layersOf = (keys: Record<string, unknown>) =>
      parse({ ...ernie, ...keys }).layers.map(({ hasExperts }) => hasExperts);
    expect(layersOf({})).toEqual([false, true, true, true]);
    expect(layersOf({ moe_layer_start_index: 2 })).toEqual([false, false, true, true]);
    expect(layersOf({ moe_layer_start_index: 0, moe_layer_end_index: 1 })).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(layersOf({ moe_layer_interval: 2 })).toEqual([false, true, false, true]);
  });

  it('of hunyuan_v1_moe have one number for all layers', () => {
    expect(parse(hunyuan).experts).toMatchObject({ count: 8, chosen: 2, intermediateSize: 128 });
    expect(faultOf({ ...hunyuan, moe_topk: [2, 3] })).toMatchObject({
      code: 'config_invalid',
      key: 'moe_topk',
    });
  });

  it.each([
    ['use_bias', { ...ernie, use_bias: true }],
    ['moe_norm_min', { ...ernie, moe_norm_min: 1e-6 }],
    ['moe_intermediate_size', { ...hunyuan, moe_intermediate_size: [64, 64] }],
    ['num_shared_expert', { ...hunyuan, num_shared_expert: [2, 2] }],
    ['moe_layer_num_skipped', { ...hunyuan, moe_layer_num_skipped: 1 }],
    ['moe_topk', { ...hunyuan, num_experts: 100, moe_topk: 65 }],
  ])('refuses %s as in %j', (key, keys) => {
    expect(faultOf(keys)).toMatchObject({ code: 'unsupported', key });
  });

  it.each([
    ['moe_k', { ...ernie, moe_k: 9 }],
    ['moe_topk', { ...hunyuan, moe_topk: 9 }],
  ])('finds %s wrong in %j', (key, keys) => {
    expect(faultOf(keys)).toMatchObject({ code: 'config_invalid', key });
  });
});

describe('latent attention', () => {
  const latent = { num_key_value_heads: 4, num_experts_per_tok: 2, n_routed_experts: 8 };
  const sizes = { kv_lora_rank: 32, qk_nope_head_dim: 16, qk_rope_head_dim: 16, v_head_dim: 16 };
  const v2 = { model_type: 'deepseek_v2', ...latent, ...sizes };
  const v3 = { model_type: 'deepseek_v3', ...latent, ...sizes, n_group: 4, topk_group: 2 };
  const glm = { model_type: 'glm4_moe_lite', ...latent, ...sizes };
  const minicpm = { model_type: 'minicpm3', ...latent, ...sizes };
  const deepseekYarn = {
    ...{ type: 'yarn', factor: 40, beta_fast: 32, beta_slow: 1 },
    original_max_position_embeddings: 4096,
  };
  const yarn = { type: 'yarn', factor: 40, original_max_position_embeddings: 16, mscale_all_dim: 0.7 };

  it('has one head of the cache, of rotated channels and a latent row', () => {
    const { kvHeadCount, headSize, layers, attentionScale } = parse(v2);
    expect([kvHeadCount, headSize, attentionScale]).toEqual([1, 48, 32 ** -0.5]);
    expect(layers[0]).toMatchObject({ kvHeadCount: 1, headSize: 48 });
  });

  it('takes no head size from hidden_size or head_dim', () => {
    expect(parse({ ...v3, head_dim: 24 }).headSize).toBe(48);
  });

  it('multiplies scores by the square of the factor of yarn', () => {
    const factor = 0.1 * 0.7 * Math.log(40) + 1;
    expect(parse({ ...v3, rope_scaling: yarn }).attentionScale).toBeCloseTo(factor ** 2 * 32 ** -0.5, 12);
  });

  it('leaves scores as they are with the default rotation, whatever settings of yarn are beside it', () => {
    for (const key of ['rope_scaling', 'rope_parameters'])
      for (const type of [{ type: 'default' }, { type: undefined }, { type: 'yarn', rope_type: 'default' }])
        expect(parse({ ...v3, [key]: { ...yarn, ...type } }).attentionScale).toBe(32 ** -0.5);
  });

  it('refuses null for rope_interleave, which transformers takes for false, not for its default', () => {
    expect(() => parse({ ...v3, rope_interleave: null })).toThrow('rope_interleave');
  });

  it('has the factors of minicpm3, which are none where they are null', () => {
    const scaled = parse({ ...minicpm, num_hidden_layers: 4, hidden_size: 64, dim_model_base: 32 });
    expect(scaled).toMatchObject({ embeddingScale: 12, residualScale: 0.7, logitScale: 0.5 });
    const plain = parse({ ...minicpm, scale_emb: 1, scale_depth: null, dim_model_base: null });
    expect(plain).toMatchObject({ embeddingScale: 1, residualScale: 1, logitScale: 1 });
  });

  it.each([
    [
      'DeepSeek-V2-Lite',
      {
        ...{ model_type: 'deepseek_v2', hidden_size: 2048, num_hidden_layers: 27, num_attention_heads: 16 },
        ...{ num_key_value_heads: 16, kv_lora_rank: 512, q_lora_rank: null, qk_nope_head_dim: 128 },
        ...{ qk_rope_head_dim: 64, v_head_dim: 128, n_routed_experts: 64, n_shared_experts: 2 },
        ...{ num_experts_per_tok: 6, moe_intermediate_size: 1408, first_k_dense_replace: 1 },
        ...{ moe_layer_freq: 1, n_group: 1, topk_group: 1, topk_method: 'greedy', norm_topk_prob: false },
        ...{ scoring_func: 'softmax', routed_scaling_factor: 1.0 },
        rope_scaling: { ...deepseekYarn, mscale: 707 / 1000, mscale_all_dim: 707 / 1000 },
      },
      576,
      192 ** -0.5 * (0.0707 * Math.log(40) + 1) ** 2,
    ],
    [
      'DeepSeek-V3',
      {
        ...{ model_type: 'deepseek_v3', hidden_size: 7168, num_hidden_layers: 61, num_attention_heads: 128 },
        ...{ num_key_value_heads: 128, kv_lora_rank: 512, q_lora_rank: 1536, qk_nope_head_dim: 128 },
        ...{ qk_rope_head_dim: 64, v_head_dim: 128, n_routed_experts: 256, n_shared_experts: 1 },
        ...{ num_experts_per_tok: 8, moe_intermediate_size: 2048, first_k_dense_replace: 3 },
        ...{ moe_layer_freq: 1, n_group: 8, topk_group: 4, topk_method: 'noaux_tc', norm_topk_prob: true },
        ...{ scoring_func: 'sigmoid', routed_scaling_factor: 2.5, num_nextn_predict_layers: 1 },
        rope_scaling: { ...deepseekYarn, mscale: 1.0, mscale_all_dim: 1.0 },
      },
      576,
      192 ** -0.5 * (0.1 * Math.log(40) + 1) ** 2,
    ],
    [
      'GLM-4.7-Flash',
      {
        ...{ model_type: 'glm4_moe_lite', hidden_size: 2048, num_hidden_layers: 47, num_attention_heads: 20 },
        ...{ num_key_value_heads: 20, kv_lora_rank: 512, q_lora_rank: 768, qk_nope_head_dim: 192 },
        ...{ qk_rope_head_dim: 64, v_head_dim: 256, n_routed_experts: 64, n_shared_experts: 1 },
        ...{ num_experts_per_tok: 4, moe_intermediate_size: 1536, first_k_dense_replace: 1 },
        ...{ n_group: 1, topk_group: 1, topk_method: 'noaux_tc', norm_topk_prob: true },
        ...{ routed_scaling_factor: 1.8, num_nextn_predict_layers: 1, partial_rotary_factor: 1.0 },
        rope_scaling: null,
      },
      576,
      256 ** -0.5,
    ],
    [
      'MiniCPM3-4B',
      {
        ...{ model_type: 'minicpm3', hidden_size: 2560, num_hidden_layers: 62, num_attention_heads: 40 },
        ...{ num_key_value_heads: 40, kv_lora_rank: 256, q_lora_rank: 768, qk_nope_head_dim: 64 },
        ...{ qk_rope_head_dim: 32, scale_emb: 12, scale_depth: 1.4, dim_model_base: 256 },
      },
      288,
      96 ** -0.5,
    ],
  ])('reads the sizes of %s', (_, keys, size, scale) => {
    const config = parse({ num_experts_per_tok: undefined, ...keys });
    expect(config).toMatchObject({ kvHeadCount: 1, headSize: size });
    expect(config.attentionScale).toBeCloseTo(scale, 12);
    expect(config.ropes[0]).toMatchObject({ size: keys.qk_rope_head_dim });
    const amplitude = 'amplitude' in config.ropes[0]!.scaling ? config.ropes[0]!.scaling.amplitude : 1;
    expect(amplitude).toBe(1);
  });

  it('chooses groups by one score or the sum of two', () => {
    const groups = { n_group: 4, topk_group: 2 };
    expect(parse({ ...v2, ...groups, topk_method: 'group_limited_greedy' }).experts?.groups).toEqual({
      count: 4,
      chosen: 2,
      keyCount: 1,
    });
    expect(parse({ ...v2, ...groups }).experts?.groups).toBeUndefined();
    expect(parse(v3).experts?.groups).toEqual({ count: 4, chosen: 2, keyCount: 2 });
    expect(parse({ ...v3, n_group: 1, topk_group: 1 }).experts?.groups).toBeUndefined();
  });

  it.each([
    { model_type: 'glm4_moe', ...latent, head_dim: 32 },
    { model_type: 'nemotron_h', ...latent, num_hidden_layers: 2, hybrid_override_pattern: 'ME' },
  ])('chooses groups in $model_type as in deepseek_v3', keys => {
    expect(parse({ ...keys, n_group: 4, topk_group: 2 }).experts?.groups).toEqual(parse(v3).experts?.groups);
    expect(faultOf({ ...keys, n_group: 4, topk_group: 5 })).toMatchObject({ key: 'topk_group' });
  });

  it('takes the other name of an activation', () => {
    expect(parse({ ...minicpm, hidden_act: 'swish' }).activation).toBe('silu');
    expect(faultOf({ ...minicpm, hidden_act: 'relu' })).toMatchObject({ key: 'hidden_act' });
  });

  it('is in kimi_k2 as in deepseek_v3', () => {
    const { modelType, ...kimi } = parse({ ...v3, model_type: 'kimi_k2' });
    expect({ ...kimi, modelType: 'deepseek_v3' }).toEqual(parse(v3));
    expect(modelType).toBe('kimi_k2');
  });

  it('has experts in the layers that glm4_moe_lite names, by default in all but the first', () => {
    const expertsOf = (keys: Record<string, unknown>) =>
      parse({ ...glm, num_hidden_layers: 3, ...keys }).layers.map(({ hasExperts }) => hasExperts);
    expect(expertsOf({})).toEqual([false, true, true]);
    expect(expertsOf({ mlp_layer_types: ['sparse', 'dense', 'sparse'] })).toEqual([true, false, true]);
  });

  it.each([
    ['kv_lora_rank', { ...v2, kv_lora_rank: 40 }],
    ['qk_rope_head_dim', { ...v3, qk_rope_head_dim: 24 }],
    ['v_head_dim', { ...v3, v_head_dim: 24 }],
    ['num_key_value_heads', { ...v2, num_key_value_heads: 2 }],
    ['attention_bias', { ...v2, attention_bias: true }],
    ['mlp_bias', { ...v2, mlp_bias: true }],
    ['topk_method', { ...v2, topk_method: 'noaux_tc' }],
    ['topk_method', { ...v3, topk_method: 'greedy' }],
    ['scoring_func', { ...v2, scoring_func: 'sigmoid' }],
    ['scoring_func', { ...v3, scoring_func: 'softmax' }],
    ['norm_topk_prob', { ...v2, norm_topk_prob: true }],
    ['moe_layer_freq', { ...v3, moe_layer_freq: 2 }],
    ['first_k_dense_replace', { ...glm, first_k_dense_replace: 2 }],
    ['mlp_layer_types', { ...glm, mlp_layer_types: ['dense', 'moe'] }],
  ])('refuses %s as in %j', (key, keys) => {
    expect(faultOf(keys)).toMatchObject({ code: 'unsupported', key });
  });

  it.each([
    ['n_group', { ...v3, n_group: 3 }],
    ['n_group', { ...v3, n_group: 8 }],
    ['n_group', { ...v2, topk_method: 'group_limited_greedy' }],
    ['topk_group', { ...v3, topk_group: 5 }],
    ['topk_group', { ...v3, topk_group: 1, num_experts_per_tok: 3 }],
    ['mlp_layer_types', { ...glm, mlp_layer_types: ['dense'], num_hidden_layers: 2 }],
    ['head_dim', { ...glm, head_dim: 32 }],
  ])('finds %s wrong in %j', (key, keys) => {
    expect(faultOf(keys)).toMatchObject({ code: 'config_invalid', key });
  });
});

describe('Mamba-2', () => {
  const granite = {
    model_type: 'granitemoehybrid',
    mamba_n_heads: 8,
    mamba_d_state: 32,
    num_local_experts: 0,
  };
  const falcon = { model_type: 'falcon_h1', mamba_d_ssm: 128, mamba_n_heads: 8, mamba_d_state: 32 };
  const nemotron = {
    ...{ model_type: 'nemotron_h', mamba_num_heads: 8, mamba_head_dim: 16, ssm_state_size: 32, n_groups: 2 },
    hybrid_override_pattern: 'M-',
  };
  const infinity = { __float__: 'Infinity' };

  it('is in the layers of granite that config.json names, by either name', () => {
    for (const layer_types of [
      ['mamba', 'attention'],
      ['linear_attention', 'full_attention'],
    ]) {
      const { layers } = parse({ ...granite, layer_types, time_step_limit: [0, infinity] });
      expect(layers.map(({ recurrent }) => recurrent?.kind)).toEqual(['mamba-2', undefined]);
    }
  });

  it('is beside the attention of falcon_h1, and alone or absent in nemotron_h', () => {
    const mixersOf = (keys: Record<string, unknown>) =>
      parse(keys).layers.map(({ recurrent, hasAttention, intermediateSize }) => [
        recurrent !== undefined,
        hasAttention,
        intermediateSize > 0,
      ]);
    expect(mixersOf(falcon)[0]).toEqual([true, true, true]);
    expect(mixersOf({ ...nemotron, num_hidden_layers: 3, hybrid_override_pattern: 'M*-' })).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });

  it.each([
    ['time_step_limit', { ...granite, time_step_limit: [0.001, infinity] }],
    ['time_step_limit', { ...nemotron, time_step_limit: [0, 0.1] }],
    ['mamba_d_state', { ...granite, mamba_d_state: 40 }],
    ['projectors_bias', { ...falcon, projectors_bias: true }],
    ['hybrid_override_pattern', { ...nemotron, hybrid_override_pattern: 'MX' }],
    ['layers_block_type', { ...nemotron, layers_block_type: ['mamba', 'convolution'] }],
    ['n_shared_experts', { ...nemotron, hybrid_override_pattern: 'ME', n_shared_experts: 2 }],
    ['mlp_bias', { ...nemotron, hybrid_override_pattern: 'ME', moe_latent_size: 32, mlp_bias: true }],
    ['mamba_hidden_act', { ...nemotron, mamba_hidden_act: 'relu' }],
  ])('refuses %s as in %j', (key, keys) => {
    expect(faultOf(keys)).toMatchObject({ code: 'unsupported', key });
  });

  it.each([
    ['mamba_n_heads', { ...granite, mamba_n_heads: 7 }],
    ['mamba_d_head', { ...granite, mamba_d_head: 32 }],
    ['mamba_n_groups', { ...granite, mamba_n_groups: 3 }],
    ['ssm_multipliers', { ...falcon, ssm_multipliers: [1, 1] }],
    ['hybrid_override_pattern', { ...nemotron, hybrid_override_pattern: 'M' }],
  ])('finds %s wrong in %j', (key, keys) => {
    expect(faultOf(keys)).toMatchObject({ code: 'config_invalid', key });
  });
});

describe('windows', () => {
  const windowsOf = (keys: Record<string, unknown>) => {
    return parse({ num_hidden_layers: 6, ...keys }).layers.map(({ window }) => window ?? 0);
  };

  it('are those of all layers in mistral, 4,096 tokens without the key, and none where it is null', () => {
    expect(windowsOf({ model_type: 'mistral', sliding_window: 8 })).toEqual([8, 8, 8, 8, 8, 8]);
    expect(windowsOf({ model_type: 'mistral', max_position_embeddings: 8192 })[0]).toBe(4096);
    expect(windowsOf({ model_type: 'mistral', sliding_window: null })[0]).toBe(0);
  });

  it('are there in qwen2 from max_window_layers on, where they are switched on', () => {
    const off = { model_type: 'qwen2', sliding_window: 8, max_window_layers: 4 };
    expect(windowsOf(off)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(windowsOf({ ...off, use_sliding_window: true })).toEqual([0, 0, 0, 0, 8, 8]);
  });

  it('follow the pattern of the model type, or layer_types where they are given', () => {
    expect(windowsOf({ model_type: 'gemma2', sliding_window: 8 })).toEqual([8, 0, 8, 0, 8, 0]);
    expect(windowsOf({ model_type: 'gemma3_text', sliding_window: 8 })).toEqual([8, 8, 8, 8, 8, 0]);
    const types = Array.from({ length: 6 }, (_, i) => (i === 2 ? 'sliding_attention' : 'full_attention'));
    expect(windowsOf({ model_type: 'gemma2', sliding_window: 8, layer_types: types })).toEqual([
      0, 0, 8, 0, 0, 0,
    ]);
  });

  it('as long as the context limit nothing', () => {
    expect(windowsOf({ model_type: 'mistral', sliding_window: 512 })[0]).toBe(0);
  });
});

describe('a wrapper of text and images', () => {
  const wrapper = (text: Record<string, unknown>) =>
    parseDecoderConfig('folder/config.json', {
      model_type: 'gemma3',
      text_config: { ...base, ...text },
    });

  it('is served as its text part', () => {
    expect(wrapper({ model_type: 'gemma3_text' })).toMatchObject({
      modelType: 'gemma3_text',
      isTextPart: true,
    });
    const { model_type: _, ...text } = base;
    const json = { model_type: 'gemma3', tie_word_embeddings: false, text_config: text };
    expect(parseDecoderConfig('config.json', json)).toMatchObject({
      modelType: 'gemma3_text',
      tiedEmbeddings: false,
    });
  });

  it('names text_config in faults', () => {
    expect(() => wrapper({ model_type: 'gemma3_text', head_dim: 20 })).toThrow(
      'folder/config.json, key text_config.head_dim: is 20',
    );
  });
});
