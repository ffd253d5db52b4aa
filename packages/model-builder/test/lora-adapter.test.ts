// Adapters that do not fit are refused by file, tensor and expectation; merging does not depend on how rows are read.

import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { ensureModel } from '../src/ensure-model.ts';
import { Checkpoint } from '../src/hugging-face/checkpoint.ts';
import { LoraAdapter } from '../src/lora/adapter.ts';
import { mergeAdapter } from '../src/lora/merged-checkpoint.ts';
import { fillSeeded } from '../src/testing/seeded-weights.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { writeAdapter } from '../src/testing/write-adapter.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const sourceDir = join(folder, 'source');
const CONFIG = { r: 4, lora_alpha: 8, target_modules: ['q_proj', 'gate_proj'] };
const QUERIES = 'base_model.model.model.layers.0.self_attn.q_proj';

beforeAll(() => createTinyCheckpoint(sourceDir));

/** Tensors by the rest of their name and their shape. */
function seeded(shapes: Readonly<Record<string, readonly number[]>>, seed = 1) {
  return Object.entries(shapes).map(([name, shape]) => ({
    name,
    shape,
    fill: (target: Float32Array, start: number) => fillSeeded(target, { seed, name, start, scale: 0.5 }),
  }));
}

const PAIR = { [`${QUERIES}.lora_A.weight`]: [4, 64], [`${QUERIES}.lora_B.weight`]: [64, 4] };

let adapterCount = 0;
async function newAdapter(tensors: ReturnType<typeof seeded>, config: object = CONFIG): Promise<string> {
  const adapterDir = join(folder, `adapter-${adapterCount++}`);
  await writeAdapter(adapterDir, { ...config }, tensors);
  return adapterDir;
}

describe('an adapter that does not fit is refused', () => {
  const outputDir = join(folder, 'never');
  const build = (adapterDir: string) => buildModel({ sourceDir, adapterDir, outputDir, precision: 'f32' });

  it.each([
    [
      'of another rank',
      { [`${QUERIES}.lora_A.weight`]: [2, 64], [`${QUERIES}.lora_B.weight`]: [64, 2] },
      'tensor_mismatch',
      'lora_A',
      'has shape [2,64]; rank 4 in ',
    ],
    [
      'of another base',
      { [`${QUERIES}.lora_A.weight`]: [4, 80], [`${QUERIES}.lora_B.weight`]: [80, 4] },
      'tensor_mismatch',
      'lora_A',
      'model.layers.0.self_attn.q_proj.weight of shape [64,64] ask for [4,64]',
    ],
    [
      'whose second matrix has other rows',
      { ...PAIR, [`${QUERIES}.lora_B.weight`]: [32, 4] },
      'tensor_mismatch',
      'lora_B',
      'has shape [32,4]',
    ],
    [
      'without its second matrix',
      { [`${QUERIES}.lora_A.weight`]: [4, 64] },
      'tensor_missing',
      'lora_B',
      'is missing',
    ],
    [
      'for a layer that the base lacks',
      {
        [`${QUERIES.replace('.0.', '.7.')}.lora_A.weight`]: [4, 64],
        [`${QUERIES.replace('.0.', '.7.')}.lora_B.weight`]: [64, 4],
      },
      'unsupported',
      'lora_A',
      'the base model has no matrix of that name',
    ],
    [
      'for a module that its configuration does not name',
      { 'base_model.model.model.layers.0.mlp.up_proj.lora_A.weight': [4, 64] },
      'unsupported',
      'up_proj',
      'which target_modules in ',
    ],
    [
      'with tensors of another kind',
      { ...PAIR, [`${QUERIES}.lora_magnitude_vector`]: [64] },
      'unsupported',
      'lora_magnitude_vector',
      'is not part of plain LoRA',
    ],
    [
      'for something that is not a matrix',
      {
        'base_model.model.model.norm.lora_A.weight': [4, 64],
        'base_model.model.model.norm.lora_B.weight': [64, 4],
      },
      'tensor_mismatch',
      'norm',
      'is not a matrix',
    ],
  ])('%s', async (_rule, shapes, code, tensor, message) => {
    const config = { ...CONFIG, target_modules: ['q_proj', 'norm'] };
    const adapterDir = await newAdapter(seeded(shapes as Record<string, number[]>), config);
    await expect(build(adapterDir)).rejects.toMatchObject({
      code,
      tensor: expect.stringContaining(tensor),
      file: join(adapterDir, 'adapter_model.safetensors'),
      message: expect.stringContaining(message),
    });
    expect(await readdir(folder)).not.toContain('never');
  });

  it.each(['adapter_config.json', 'adapter_model.safetensors'])('without %s', async name => {
    const adapterDir = await newAdapter(seeded(PAIR));
    await rm(join(adapterDir, name));
    await expect(build(adapterDir)).rejects.toMatchObject({
      code: 'source_invalid',
      file: join(adapterDir, name),
    });
  });

  it('that is truncated', async () => {
    const adapterDir = await newAdapter(seeded(PAIR));
    const file = join(adapterDir, 'adapter_model.safetensors');
    await truncate(file, 1_000);
    await expect(build(adapterDir)).rejects.toMatchObject({ code: 'weights_corrupt', file });
  });
});

it('merges the same values whether rows are read one by one, in pieces or at once', async () => {
  const base = await Checkpoint.open(sourceDir);
  const merged = mergeAdapter(base, await LoraAdapter.open(await newAdapter(seeded(PAIR))));
  const name = 'model.layers.0.self_attn.q_proj.weight';
  const read = async (rowsAtOnce: number) => {
    const tensor = merged.tensor(name, [64, 64]);
    const all = new Float32Array(64 * 64);
    for (let row = 0; row < 64; row += rowsAtOnce) {
      const piece = all.subarray(row * 64, Math.min(64, row + rowsAtOnce) * 64);
      await tensor.readFloats(row * 64, piece);
    }
    return all;
  };
  const whole = await read(64);
  expect(await read(1)).toEqual(whole);
  expect(await read(7)).toEqual(whole);
  const plain = new Float32Array(64 * 64);
  await base.tensor(name, [64, 64]).readFloats(0, plain);
  expect(plain).not.toEqual(whole);
  await merged.close();
});

it('is part of the identity of a build', async () => {
  const cacheDir = join(folder, 'cache');
  const ensure = (adapterDir?: string) => ensureModel({ sourceDir, adapterDir, cacheDir, precision: 'q4' });
  const first = await newAdapter(seeded(PAIR));
  const same = await newAdapter(seeded(PAIR));
  const other = await newAdapter(seeded(PAIR, 2));
  const otherScale = await newAdapter(seeded(PAIR), { ...CONFIG, lora_alpha: 9 });
  const merged = await ensure(first);
  expect(await ensure(same)).toBe(merged);
  expect(new Set([await ensure(), merged, await ensure(other), await ensure(otherScale)]).size).toBe(4);
});
