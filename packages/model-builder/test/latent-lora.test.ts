// A LoRA adapter on the matrices of latent attention, which a build reorders and transposes, is merged as into any other matrix.

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { fillSeeded } from '../src/testing/seeded-weights.ts';
import { writeAdapter } from '../src/testing/write-adapter.ts';
import { writeSafetensors } from '../src/testing/write-safetensors.ts';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from './decoder-golden.ts';
import { largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const GOLDEN = DECODER_GOLDENS.find(({ family }) => family === 'minicpm3')!.cases[0]!;
const MODULES = ['q_a_proj', 'q_b_proj', 'kv_a_proj_with_mqa', 'kv_b_proj', 'o_proj'];
const RANK = 4;
const SCALE = 2;

function seeded(name: string, count: number): Float32Array {
  const values = new Float32Array(count);
  fillSeeded(values, { seed: 1, name, start: 0, scale: 0.3 });
  return values;
}

async function logitsOf(sourceDir: string, adapterDir?: string) {
  const outputDir = join(sourceDir, adapterDir === undefined ? 'plain' : 'adapted');
  const options = { sourceDir, outputDir, precision: 'f32', variant: 'kernels' } as const;
  await buildModel(adapterDir === undefined ? options : { ...options, adapterDir });
  const session = await SlotsSession.open(outputDir);
  const rows = await session.run([[3, 1, 4, 1, 5, 9, 2, 6]], [0]);
  await session.close();
  return rows.flatMap(row => [...row]);
}

it('merges an adapter into matrices of latent rows and of heads', async () => {
  const [base, merged, adapterDir] = ['base', 'merged', 'adapter'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const tensors = await writeGoldenCheckpoint(base, GOLDEN);
  await writeGoldenCheckpoint(merged, GOLDEN);
  const adapted = tensors.filter(({ name }) => MODULES.some(module => name.endsWith(`.${module}.weight`)));
  const parts = adapted.map(({ name, shape }) => {
    const [outputs, inputs] = shape as readonly [number, number];
    const stem = `base_model.model.${name.replace('.weight', '')}`;
    const [a, b] = [`${stem}.lora_A.weight`, `${stem}.lora_B.weight`];
    return {
      ...{ name, outputs, inputs },
      a: { name: a, shape: [RANK, inputs], values: seeded(a, RANK * inputs) },
      b: { name: b, shape: [outputs, RANK], values: seeded(b, outputs * RANK) },
    };
  });
  const written = (name: string, shape: readonly number[], values: Float32Array) => ({
    name,
    shape,
    fill: (target: Float32Array, start: number) => target.set(values.subarray(start, start + target.length)),
  });
  const config = { r: RANK, lora_alpha: RANK * SCALE, target_modules: MODULES };
  const pairs = parts.flatMap(({ a, b }) => [a, b]);
  await writeAdapter(
    adapterDir,
    config,
    pairs.map(({ name, shape, values }) => written(name, shape, values)),
  );
  const whole = tensors.map(({ name, shape, fill }) => {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    fill(values, 0);
    const part = parts.find(each => each.name === name);
    for (let at = 0; part !== undefined && at < values.length; at++) {
      const [row, column] = [Math.floor(at / part.inputs), at % part.inputs];
      for (let k = 0; k < RANK; k++)
        values[at]! += SCALE * part.b.values[row * RANK + k]! * part.a.values[k * part.inputs + column]!;
    }
    return written(name, shape, values);
  });
  await writeSafetensors(join(merged, 'model.safetensors'), 'F32', whole);
  const expected = await logitsOf(merged);
  expect(largestDifference(await logitsOf(base, adapterDir), expected)).toBeLessThan(1e-4);
  expect(largestDifference(await logitsOf(base), expected)).toBeGreaterThan(0.1);
});
