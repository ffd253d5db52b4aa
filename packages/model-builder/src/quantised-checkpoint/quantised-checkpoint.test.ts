import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SINGLE_WEIGHTS_FILE } from '../hugging-face/checkpoint.ts';
import {
  packAwq,
  packFloat8,
  packGptq,
  packIntegers,
  packPlainIntegers,
} from '../testing/quantised-layers.ts';
import { type RawTensor, writeRawSafetensors } from '../testing/write-raw-safetensors.ts';
import { type LayerQuantisation, parseQuantisationConfig } from './quantisation-config.ts';
import { QuantisedCheckpoint } from './quantised-checkpoint.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-quantised-'));
});
afterEach(() => rm(folder, { recursive: true }));

const LAYER = { name: 'layer', outputs: 16, inputs: 64, seed: 1 };
const GPTQ = { quant_method: 'gptq', bits: 4, group_size: 32, checkpoint_format: 'gptq_v2' };

async function open(tensors: readonly RawTensor[], section: object): Promise<QuantisedCheckpoint> {
  await writeRawSafetensors(join(folder, SINGLE_WEIGHTS_FILE), tensors);
  return QuantisedCheckpoint.open(
    folder,
    parseQuantisationConfig('config.json', { quantization_config: section }) as LayerQuantisation,
  );
}

type Change = (tensor: RawTensor) => RawTensor | undefined;

/** The tensors with one changed or left out. */
function changed(tensors: readonly RawTensor[], part: string, change: Change): RawTensor[] {
  return tensors.flatMap(tensor => {
    if (tensor.name !== `layer.${part}`) return [tensor];
    const result = change(tensor);
    return result === undefined ? [] : [result];
  });
}

const absent: Change = () => undefined;
const words = (tensor: RawTensor, set: (words: Int32Array) => void): RawTensor => {
  const bytes = tensor.bytes.slice();
  set(new Int32Array(bytes.buffer));
  return { ...tensor, bytes };
};
const withShape =
  (shape: readonly number[]): Change =>
  tensor => ({ ...tensor, shape });

function floats(name: string, shape: readonly number[], value = 0): RawTensor {
  const count = shape.reduce((product, size) => product * size, 1);
  return { name, type: 'F32', shape, bytes: new Uint8Array(new Float32Array(count).fill(value).buffer) };
}

describe('a damaged GPTQ layer is refused with the name of the tensor', () => {
  const { tensors } = packGptq({ bits: 4, groupSize: 32, isSymmetric: false })(LAYER);

  it.each<[string, string, Change, string]>([
    ['tensor_missing', 'scales', absent, 'no weights file holds tensor "layer.scales"'],
    ['tensor_missing', 'qzeros', absent, 'no weights file holds tensor "layer.qzeros"'],
    ['tensor_mismatch', 'scales', withShape([32]), 'has shape [32], not [groups, outputs]'],
    ['tensor_mismatch', 'scales', withShape([4, 8]), 'tensor "layer.qzeros": has shape [2,2], not'],
    ['tensor_mismatch', 'qweight', withShape([16, 8]), 'has shape [16,8], not [16,16]'],
    ['tensor_mismatch', 'g_idx', withShape([8, 8]), 'has shape [8,8], not [64]'],
    ['tensor_mismatch', 'qweight', tensor => ({ ...tensor, type: 'F32' }), 'has type F32'],
    [
      'tensor_mismatch',
      'g_idx',
      tensor => words(tensor, all => all.fill(2, 7, 8)),
      'tensor "layer.g_idx": says that input 7 is in group 2; the layer has groups 0 to 1',
    ],
    [
      'tensor_mismatch',
      'g_idx',
      tensor => words(tensor, all => all.fill(-1, 0, 1)),
      'says that input 0 is in group -1',
    ],
    [
      'tensor_mismatch',
      'scales',
      tensor => ({ ...tensor, bytes: new Uint8Array(tensor.bytes.length).fill(0xff) }),
      'tensor "layer.scales": element 0 is NaN',
    ],
  ])('%s: %s', async (code, part, change, message) => {
    const result = open(changed(tensors, part, change), GPTQ);
    await expect(result).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('where its zero points were lost in the first format', async () => {
    const lost = changed(tensors, 'qzeros', tensor => words(tensor, all => all.fill(-1, 1, 2)));
    await expect(open(lost, { ...GPTQ, checkpoint_format: 'gptq' })).rejects.toMatchObject({
      code: 'weights_corrupt',
      tensor: 'layer.qzeros',
    });
    await (await open(lost, GPTQ)).close();
  });

  it('where floats of the same name are beside it', async () => {
    const twice = [...tensors, floats('layer.weight', [16, 64])];
    await expect(open(twice, GPTQ)).rejects.toMatchObject({
      code: 'weights_corrupt',
      tensor: 'layer.weight',
    });
  });

  it('where bits and groups are not those that config.json declares', async () => {
    await expect(open(tensors, { ...GPTQ, group_size: 16 })).rejects.toMatchObject({
      tensor: 'layer.qweight',
      message: expect.stringContaining(
        'has 4 bits and 2 groups of 64 inputs; config.json says 4 bits in groups of 16',
      ),
    });
    const dynamic = { '-:lm_head': {}, '+:layer': { group_size: 32 } };
    await (await open(tensors, { ...GPTQ, group_size: 16, dynamic })).close();
  });
});

const AWQ = { quant_method: 'awq', bits: 4, group_size: 32, version: 'gemm' };
const FP8 = { quant_method: 'fp8', weight_block_size: [8, 32] };
const compressed = (format: string, weights: object) => ({
  quant_method: 'compressed-tensors',
  format,
  config_groups: { group_0: { targets: ['Linear'], weights } },
});
const PACKED = compressed('pack-quantized', { num_bits: 4, group_size: 32, symmetric: false });
const PLAIN = compressed('int-quantized', { num_bits: 8, strategy: 'channel' });

describe('a damaged layer of another packing is refused with the name of the tensor', () => {
  const awq = packAwq(32)(LAYER).tensors;
  const packed = packIntegers({ bits: 4, groupSize: 32, isSymmetric: false })(LAYER).tensors;
  const plain = packPlainIntegers(LAYER).tensors;
  const float8 = packFloat8(32)(LAYER).tensors;

  it.each<[string, readonly RawTensor[], object, string, Change, string]>([
    ['AWQ', awq, AWQ, 'qzeros', absent, 'no weights file holds tensor "layer.qzeros"'],
    ['AWQ', awq, AWQ, 'qweight', withShape([16, 8]), 'layer.qweight": has shape [16,8], not [16,2]'],
    [
      'AWQ',
      awq,
      { ...AWQ, group_size: 64 },
      'scales',
      tensor => tensor,
      'config.json says 4 bits in groups of 64',
    ],
    ['packed', packed, PACKED, 'weight_scale', absent, 'no weights file holds tensor "layer.weight_scale"'],
    ['packed', packed, PACKED, 'weight_shape', absent, 'no weights file holds tensor "layer.weight_shape"'],
    [
      'packed',
      packed,
      PACKED,
      'weight_zero_point',
      absent,
      'no weights file holds tensor "layer.weight_zero_point"',
    ],
    [
      'packed',
      packed,
      PACKED,
      'weight_shape',
      tensor => words(tensor, all => all.fill(96, 2, 3)),
      'layer.weight_packed": has shape [16,8] for 96 inputs, which is not that of the 4 bits',
    ],
    [
      'packed',
      packed,
      PACKED,
      'weight_scale',
      withShape([8, 4]),
      'has shape [8,4], not [16 outputs, groups]',
    ],
    ['integers', plain, PLAIN, 'weight_scale', absent, 'no weights file holds tensor "layer.weight_scale"'],
    [
      'integers',
      plain,
      PLAIN,
      'weight_scale',
      withShape([4, 4]),
      'has shape [4,4], not [16 outputs, groups]',
    ],
    [
      'integers',
      plain,
      compressed('int-quantized', { num_bits: 8, symmetric: false }),
      'input_scale',
      absent,
      'no weights file holds tensor "layer.weight_zero_point"',
    ],
    [
      'FP8',
      float8,
      { ...FP8, weight_block_size: [32, 32] },
      'weight_scale_inv',
      absent,
      '"layer.weight_scale"',
    ],
    ['FP8', float8, FP8, 'weight_scale_inv', tensor => tensor, 'config.json declares blocks of 8 x 32'],
    [
      'FP8',
      float8,
      { quant_method: 'fp8' },
      'weight_scale_inv',
      tensor => tensor,
      'has shape [1,2] for 16 outputs and 64 inputs; config.json declares no blocks',
    ],
  ])('%s', async (_, tensors, section, part, change, message) => {
    await expect(open(changed(tensors, part, change), section)).rejects.toMatchObject({
      code: expect.stringMatching(/^tensor_(missing|mismatch)$/),
      message: expect.stringContaining(message),
    });
  });

  it('where a value in FP8 is NaN', async () => {
    const section = { ...FP8, weight_block_size: [32, 32] };
    const nan = changed(float8, 'weight', tensor => ({
      ...tensor,
      bytes: tensor.bytes.slice().fill(0xff, 70, 71),
    }));
    const checkpoint = await open(nan, section);
    const layer = checkpoint.tensor('layer.weight', [16, 64]);
    await layer.readFloats(0, new Float32Array(64));
    await expect(layer.readFloats(64, new Float32Array(64))).rejects.toMatchObject({
      tensor: 'layer.weight',
      message: expect.stringContaining('element 70 is NaN'),
    });
    await checkpoint.close();
  });
});

describe('a quantised checkpoint', () => {
  const { tensors, values } = packGptq({ bits: 4, groupSize: 32, isSymmetric: true })(LAYER);
  const none = () => false;

  it('has layers of two packings, each with its own bits and groups', async () => {
    const pack = packIntegers({ bits: 4, groupSize: 32, isSymmetric: true });
    const packed = pack({ ...LAYER, name: 'packed' });
    const plain = packPlainIntegers({ ...LAYER, name: 'plain' });
    const scheme = (format: string, weights: object) => ({ targets: ['Linear'], format, weights });
    const checkpoint = await open([...packed.tensors, ...plain.tensors], {
      quant_method: 'compressed-tensors',
      format: 'mixed-precision',
      config_groups: {
        group_0: scheme('pack-quantized', { num_bits: 4, group_size: 32, strategy: 'group' }),
        group_1: scheme('int-quantized', { num_bits: 8, strategy: 'channel' }),
      },
    });
    for (const [name, layer] of Object.entries({ packed, plain })) {
      const read = new Float32Array(16 * 64);
      await checkpoint.tensor(`${name}.weight`, [16, 64]).readFloats(0, read);
      expect(read).toEqual(layer.values);
    }
    await checkpoint.close();
  });

  it('has layers under the names that they have in floats, and checks their shapes', async () => {
    const checkpoint = await open(tensors, GPTQ);
    expect(checkpoint.has('layer.weight')).toBe(true);
    expect(() => checkpoint.tensor('layer.weight', [64, 16])).toThrow(
      'has shape [16,64]; config.json asks for [64,16]',
    );
    checkpoint.tensor('layer.weight', [16, 64]);
    expect(checkpoint.usedElementCount).toBe(1024);
    checkpoint.checkAllUsed(none);
    await checkpoint.close();
  });

  it('reads layers of which the order of inputs is not stored', async () => {
    const checkpoint = await open(changed(tensors, 'g_idx', absent), GPTQ);
    const read = new Float32Array(values.length);
    await checkpoint.tensor('layer.weight', [16, 64]).readFloats(0, read);
    expect(read).toEqual(values);
    await checkpoint.close();
  });

  it('passes over scales of activations and of a KV cache', async () => {
    const scales = ['layer.k_scale', 'layer.activation_scale'].map(name => floats(name, [1], 0.5));
    const checkpoint = await open([...packPlainIntegers(LAYER).tensors, ...scales], PLAIN);
    checkpoint.tensor('layer.weight', [16, 64]);
    checkpoint.checkAllUsed(none);
    await checkpoint.close();
  });

  it('has floats beside quantised layers, which builds may round', async () => {
    const table = floats('table.weight', [4, 8], 1);
    const checkpoint = await open([...tensors, table, floats('norm.weight', [8], 1)], GPTQ);
    expect(checkpoint.tensor('table.weight', [4, 8]).quantised).toEqual({ type: 'F32', codes: undefined });
    expect(checkpoint.tensor('norm.weight', [8]).quantised).toBeUndefined();
    await checkpoint.close();
  });

  it('refuses quantised layers that no part of the model asks for', async () => {
    const checkpoint = await open(tensors, GPTQ);
    expect(() => checkpoint.checkAllUsed(none)).toThrow('"layer.g_idx"');
    await checkpoint.close();
  });

  it('passes over biases of zeros that the model does not have, and refuses others', async () => {
    for (const [value, isRefused] of [
      [0, false],
      [0.5, true],
    ] as const) {
      const checkpoint = await open([...tensors, floats('layer.bias', [16], value)], GPTQ);
      checkpoint.tensor('layer.weight', [16, 64]);
      const check = () => checkpoint.checkAllUsed(none);
      if (isRefused) expect(check).toThrow('"layer.bias"');
      else check();
      await checkpoint.close();
    }
  });
});
