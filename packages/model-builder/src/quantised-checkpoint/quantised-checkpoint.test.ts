import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SINGLE_WEIGHTS_FILE } from '../hugging-face/checkpoint.ts';
import { packGptq } from '../testing/quantised-layers.ts';
import { type RawTensor, writeRawSafetensors } from '../testing/write-raw-safetensors.ts';
import { parseQuantisationConfig } from './quantisation-config.ts';
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
    parseQuantisationConfig('config.json', { quantization_config: section })!,
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

  it('where bits and groups are none that config.json declares', async () => {
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

describe('a quantised checkpoint', () => {
  const { tensors, values } = packGptq({ bits: 4, groupSize: 32, isSymmetric: true })(LAYER);
  const none = () => false;

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
