import { describe, expect, it } from 'vitest';
import { parseQuantisationConfig } from './quantisation-config.ts';
import { UNSUPPORTED_FORMATS, UNSUPPORTED_METHODS } from './unsupported-quantisation.ts';

const parse = (section: unknown) =>
  parseQuantisationConfig('folder/config.json', { quantization_config: section });
const GPTQ = { quant_method: 'gptq', bits: 4, group_size: 128 };

const COMPRESSED = { quant_method: 'compressed-tensors', format: 'mixed-precision', config_groups: {} };

describe('quantization_config', () => {
  it('is absent in checkpoints in floats', () => {
    expect(parse(undefined)).toBeUndefined();
    expect(parse(null)).toBeUndefined();
  });

  it.each([
    ['quantization', { quantization: { group_size: 64, bits: 4, mode: 'affine' } }],
    [
      'quantization',
      { quantization: { group_size: 64, bits: 4 }, quantization_config: { group_size: 64, bits: 4 } },
    ],
    ['quantization_config', { quantization_config: { group_size: 64, bits: 4 } }],
  ])('of MLX is refused by its name: %s %j', (key, json) => {
    expect(() => parseQuantisationConfig('folder/config.json', json)).toThrow(
      expect.objectContaining({ code: 'unsupported', key, message: expect.stringContaining('MLX') }),
    );
  });

  it('may belong to the text part of a model', () => {
    const json = { model_type: 'mistral3', text_config: { quantization_config: GPTQ } };
    expect(parseQuantisationConfig('config.json', json)).toMatchObject({ method: 'gptq' });
  });

  it('of GPTQ says which format of zero points, and which bits and groups', () => {
    expect(parse(GPTQ)).toEqual({
      method: 'gptq',
      isVersion1: true,
      isSymmetric: true,
      isOrdered: false,
      schemes: [{ bits: 4, groupSize: 128 }],
    });
    const dynamic = {
      '-:.*lm_head': {},
      '+:.*down_proj': { bits: 8, group_size: -1 },
      '.*up_proj': { bits: 8 },
    };
    expect(parse({ ...GPTQ, checkpoint_format: 'gptq_v2', sym: false, desc_act: true, dynamic })).toEqual({
      method: 'gptq',
      isVersion1: false,
      isSymmetric: false,
      isOrdered: true,
      schemes: [
        { bits: 4, groupSize: 128 },
        { bits: 8, groupSize: undefined },
        { bits: 8, groupSize: 128 },
      ],
    });
  });

  it('of AWQ has groups under two names', () => {
    const config = { method: 'awq', schemes: [{ bits: 4, groupSize: 64 }] };
    expect(parse({ quant_method: 'awq', bits: 4, group_size: 64, version: 'GEMM' })).toEqual(config);
    expect(parse({ quant_method: 'awq', w_bit: 4, q_group_size: 64 })).toEqual(config);
  });

  it('of compressed-tensors has a scheme for each group of layers', () => {
    const config_groups = {
      group_0: {
        targets: ['re:.*attn'],
        weights: { num_bits: 4, type: 'int', group_size: 128, symmetric: false },
      },
      group_1: { targets: ['Linear'], weights: { num_bits: 8, strategy: 'channel' } },
      group_2: { weights: { num_bits: 8, type: 'float', block_structure: '128x64' } },
      group_3: { weights: { num_bits: 8, type: 'float', strategy: 'tensor' } },
      group_4: { weights: null, input_activations: { num_bits: 8 } },
    };
    expect(parse({ ...COMPRESSED, config_groups })).toEqual({
      method: 'compressed-tensors',
      integers: [
        { bits: 4, groupSize: 128, isSymmetric: false },
        { bits: 8, groupSize: undefined, isSymmetric: true },
      ],
      floats: [{ block: [128, 64] }, { block: undefined }],
    });
  });

  it('of FP8 has blocks or one scale', () => {
    const block = { quant_method: 'fp8', weight_block_size: [128, 128] };
    expect(parse(block)).toEqual({ method: 'fp8', floats: [{ block: [128, 128] }] });
    const whole = { quant_method: 'fp8', weight_block_size: null, activation_scheme: 'static' };
    expect(parse(whole)).toEqual({ method: 'fp8', floats: [{ block: undefined }] });
  });

  it.each(Object.entries(UNSUPPORTED_FORMATS))(
    'of %s is refused by name with what it would need',
    (format, need) => {
      expect(() => parse({ ...COMPRESSED, format })).toThrow(
        `is "${format}", which would need ${need}; supported: `,
      );
    },
  );

  it.each([
    [{ ...GPTQ, bits: 3 }, 'quantization_config.bits', 'is 3; GPTQ is read with 4 and 8 bits'],
    [
      { ...GPTQ, checkpoint_format: 'marlin' },
      'quantization_config.checkpoint_format',
      'the layout of its GPU kernels',
    ],
    [{ ...GPTQ, pack_dtype: 'int64' }, 'quantization_config.pack_dtype', 'allowed: "int32"'],
    [{ quant_method: 'awq', version: 'gemv' }, 'quantization_config.version', 'the layout of another kernel'],
    [{ quant_method: 'awq', bits: 8 }, 'quantization_config.bits', 'AWQ is read with 4 bits'],
    [{ quant_method: 'awq', zero_point: false }, 'quantization_config.zero_point', 'layers without qzeros'],
    [
      { ...COMPRESSED, config_groups: { a: { weights: { num_bits: 3 } } } },
      'quantization_config.config_groups.a.weights.num_bits',
      'integers are read with 4 and 8 bits',
    ],
    [
      { ...COMPRESSED, config_groups: { a: { weights: { num_bits: 4, type: 'float' } } } },
      'quantization_config.config_groups.a.weights.type',
      'is "float" with 4 bits',
    ],
    [
      { ...COMPRESSED, transform_config: { config_groups: { R1: {} } } },
      'quantization_config.transform_config',
      'Hadamard products',
    ],
    [
      { ...COMPRESSED, sparsity_config: { format: 'sparse-24-bitmask' } },
      'quantization_config.sparsity_config.format',
      'two of four weights being zero',
    ],
    [{ quant_method: 'fp8', fmt: 'e5m2' }, 'quantization_config.fmt', 'supported: "e4m3"'],
    [{ quant_method: 'new' }, 'quantization_config.quant_method', 'is "new"; supported: gptq, awq'],
  ])('is refused where it is not read: %j', (section, key, message) => {
    expect(() => parse(section)).toThrow(expect.objectContaining({ code: 'unsupported', key }));
    expect(() => parse(section)).toThrow(message);
  });

  it.each(Object.entries(UNSUPPORTED_METHODS))(
    'of %s is refused by name with what it would need',
    (method, need) => {
      expect(() => parse({ quant_method: method })).toThrow(
        `is "${method}", which would need ${need}; supported: `,
      );
    },
  );

  it.each([
    [{ bits: 4 }, 'quantization_config.quant_method'],
    [{ ...GPTQ, group_size: 0 }, 'quantization_config.group_size'],
    [{ ...GPTQ, bits: '4' }, 'quantization_config.bits'],
    [{ ...GPTQ, dynamic: { '+:x': { bits: 'four' } } }, 'quantization_config.dynamic.+:x.bits'],
    ['gptq', 'quantization_config'],
  ])('is refused as invalid: %j', (section, key) => {
    expect(() => parse(section)).toThrow(expect.objectContaining({ code: 'config_invalid', key }));
  });
});
