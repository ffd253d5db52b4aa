// Latent attention with quantised weights: a folder in FP8 or 4 bits is in float32 bit for bit the folder of its values, though matrices
// of heads are reordered and transposed, and in the format of its codes near it.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { packAwq, packFloat8, packGptq } from '../src/testing/quantised-layers.ts';
import { writeRawSafetensors } from '../src/testing/write-raw-safetensors.ts';
import { writeSafetensors } from '../src/testing/write-safetensors.ts';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from './decoder-golden.ts';
import { expectSameBits } from './same-bits.ts';
import { largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
// Its matrices have whole groups of 32 inputs.
const GOLDEN = DECODER_GOLDENS.find(({ family }) => family === 'minicpm3')!.cases[0]!;
const CONFIG = { ...GOLDEN.config, q_lora_rank: 32, qk_nope_head_dim: 32, v_head_dim: 32 };
const SIZES: Readonly<Record<string, readonly number[]>> = {
  'q_a_proj.weight': [32, 64],
  'q_a_layernorm.weight': [32],
  'q_b_proj.weight': [4 * 48, 32],
  'kv_b_proj.weight': [4 * 64, 32],
  'o_proj.weight': [64, 128],
};
const TENSORS = Object.fromEntries(
  Object.entries(GOLDEN.tensors).map(([name, [shape, scale, offset]]) => {
    const other = Object.entries(SIZES).find(([end]) => name.endsWith(end))?.[1];
    return [name, [other ?? shape, scale, offset] as const];
  }),
);
const TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];

const GPTQ = { quant_method: 'gptq', bits: 4, group_size: 32, sym: true, checkpoint_format: 'gptq_v2' };
const AWQ = { quant_method: 'awq', bits: 4, group_size: 32, version: 'gemm', zero_point: true };
const CASES = [
  ['FP8 in blocks of 32', { quant_method: 'fp8', weight_block_size: [32, 32] }, packFloat8(32)],
  ['FP8 in blocks of 128', { quant_method: 'fp8', weight_block_size: [128, 128] }, packFloat8(128)],
  ['GPTQ', GPTQ, packGptq({ bits: 4, groupSize: 32, isSymmetric: true })],
  ['AWQ', AWQ, packAwq(32)],
] as const;

describe.each(CASES)('%s', (label, quantisation, pack) => {
  const [source, quantised] = [join(folder, label, 'source'), join(folder, label, 'quantised')];

  beforeAll(async () => {
    const golden = { ...GOLDEN, config: CONFIG, tensors: TENSORS };
    const tensors = await writeGoldenCheckpoint(source, golden);
    await writeGoldenCheckpoint(quantised, golden);
    const packed = tensors.map(({ name, shape, fill }) => {
      const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
      fill(values, 0);
      const plain = { name, type: 'F32', shape, bytes: new Uint8Array(values.buffer) };
      if (!name.includes('_proj')) return { name, shape, values, raw: [plain] };
      const [outputs, inputs] = shape as readonly [number, number];
      const layer = pack({ name: name.replace('.weight', ''), outputs, inputs, seed: 1 });
      return { name, shape, values: layer.values, raw: layer.tensors };
    });
    await writeSafetensors(
      join(source, 'model.safetensors'),
      'F32',
      packed.map(({ name, shape, values }) => ({
        name,
        shape,
        fill: (target, start) => target.set(values.subarray(start, start + target.length)),
      })),
    );
    await writeRawSafetensors(
      join(quantised, 'model.safetensors'),
      packed.flatMap(({ raw }) => raw),
    );
    const file = join(quantised, 'config.json');
    const config = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...config, quantization_config: quantisation }));
  });

  const built = new Map<string, Promise<Float32Array[]>>();
  const logitsOf = (sourceDir: string, precision: 'f32' | 'file') => {
    const outputDir = `${sourceDir}-${precision}`;
    const logits = built.get(outputDir) ?? runBuild(sourceDir, outputDir, precision);
    built.set(outputDir, logits);
    return logits;
  };

  it('has in float32 the bits of its values', async () => {
    expectSameBits(await logitsOf(quantised, 'f32'), await logitsOf(source, 'f32'));
  });

  it('has near logits where codes are kept', async () => {
    const [kept, whole] = [await logitsOf(quantised, 'file'), await logitsOf(source, 'f32')].map(rows =>
      rows.flatMap(row => [...row]),
    ) as [number[], number[]];
    const deviation = Math.sqrt(whole.reduce((sum, logit) => sum + logit ** 2, 0) / whole.length);
    expect(largestDifference(kept, whole)).toBeLessThan(0.75 * deviation);
  });
});

async function runBuild(sourceDir: string, outputDir: string, precision: 'f32' | 'file') {
  await buildModel({ sourceDir, outputDir, precision, variant: 'kernels', kvType: 'float32' });
  const session = await SlotsSession.open(outputDir);
  const rows = await session.run([TOKENS], [0]);
  await session.close();
  return rows;
}
