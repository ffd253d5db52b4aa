import { describe, expect, it } from 'vitest';
import { parseQuantisationConfig } from './quantisation-config.ts';
import { UNSUPPORTED_METHODS } from './unsupported-quantisation.ts';

const parse = (section: unknown) =>
  parseQuantisationConfig('folder/config.json', { quantization_config: section });
const GPTQ = { quant_method: 'gptq', bits: 4, group_size: 128 };

describe('quantization_config', () => {
  it('is absent in checkpoints in floats', () => {
    expect(parse(undefined)).toBeUndefined();
    expect(parse(null)).toBeUndefined();
  });

  it('may belong to the text part of a model', () => {
    const json = { model_type: 'mistral3', text_config: { quantization_config: GPTQ } };
    expect(parseQuantisationConfig('config.json', json)).toMatchObject({ method: 'gptq' });
  });

  it('of GPTQ says which format of zero points, and which bits and groups', () => {
    expect(parse(GPTQ)).toEqual({
      method: 'gptq',
      isVersion1: true,
      schemes: [{ bits: 4, groupSize: 128 }],
    });
    const dynamic = {
      '-:.*lm_head': {},
      '+:.*down_proj': { bits: 8, group_size: -1 },
      '.*up_proj': { bits: 8 },
    };
    expect(parse({ ...GPTQ, checkpoint_format: 'gptq_v2', dynamic })).toEqual({
      method: 'gptq',
      isVersion1: false,
      schemes: [
        { bits: 4, groupSize: 128 },
        { bits: 8, groupSize: undefined },
        { bits: 8, groupSize: 128 },
      ],
    });
  });

  it.each([
    [{ ...GPTQ, bits: 3 }, 'quantization_config.bits', 'is 3; GPTQ is read with 4 and 8 bits'],
    [
      { ...GPTQ, checkpoint_format: 'marlin' },
      'quantization_config.checkpoint_format',
      'the layout of its GPU kernels',
    ],
    [{ ...GPTQ, pack_dtype: 'int64' }, 'quantization_config.pack_dtype', 'allowed is "int32"'],
    [{ quant_method: 'new' }, 'quantization_config.quant_method', 'is "new"; read are gptq'],
  ])('is refused where it is not read: %j', (section, key, message) => {
    expect(() => parse(section)).toThrow(expect.objectContaining({ code: 'unsupported', key }));
    expect(() => parse(section)).toThrow(message);
  });

  it.each(Object.entries(UNSUPPORTED_METHODS))(
    'of %s is refused by name with what it would need',
    (method, need) => {
      expect(() => parse({ quant_method: method })).toThrow(
        `is "${method}", which would need ${need}; read are`,
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
