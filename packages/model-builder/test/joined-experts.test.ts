// Checkpoints that have the matrices of all experts of a layer in two tensors, as Qwen 3.5 is published, against one tensor for each.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { type TensorToWrite, writeSafetensors } from '../src/testing/write-safetensors.ts';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from './decoder-golden.ts';
import { expectSameBits } from './same-bits.ts';
import { SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const SINGLE = /^(.+\.experts)\.(\d+)\.(gate|up|down)_proj\.weight$/;

/** `[experts, gates and ups, inputs]` and `[experts, outputs, inputs]` in place of one tensor for each. */
function joined(tensors: readonly TensorToWrite[]): TensorToWrite[] {
  const stacks = new Map<string, TensorToWrite[]>();
  for (const tensor of tensors) {
    const [, module, expert, role] = SINGLE.exec(tensor.name) ?? [];
    if (module === undefined) continue;
    const name = `${module}.${role === 'down' ? 'down_proj' : 'gate_up_proj'}`;
    const parts = stacks.get(name) ?? [];
    const place = role === 'down' ? Number(expert) : 2 * Number(expert) + (role === 'up' ? 1 : 0);
    parts[place] = tensor;
    stacks.set(name, parts);
  }
  const stacked = [...stacks].map(([name, parts]) => {
    const [outputs, inputs] = parts[0]!.shape as [number, number];
    const size = outputs * inputs;
    const values = new Float32Array(parts.length * size);
    for (const [i, part] of parts.entries()) part.fill(values.subarray(i * size, (i + 1) * size), 0);
    const perExpert = name.endsWith('down_proj') ? 1 : 2;
    return {
      name,
      shape: [parts.length / perExpert, perExpert * outputs, inputs],
      fill: (target: Float32Array, start: number) =>
        target.set(values.subarray(start, start + target.length)),
    };
  });
  return [...tensors.filter(({ name }) => !SINGLE.test(name)), ...stacked];
}

it.each(['qwen3_5_moe', 'qwen3_moe', 'glm4_moe'])('%s gives the same bits in either form', async family => {
  const golden = DECODER_GOLDENS.find(each => each.family === family)!.cases[0]!;
  const sourceDir = join(folder, family, 'source');
  const build = async (name: string) => {
    const outputDir = join(folder, family, name);
    const { parameterCount } = await buildModel({ sourceDir, outputDir, precision: 'f32' });
    const session = await SlotsSession.open(outputDir, { capacity: 64 });
    const rows = await session.run([golden.prompts.at(-1)!.tokens.slice(0, 40)], [0]);
    await session.close();
    return { parameterCount, rows };
  };
  const tensors = await writeGoldenCheckpoint(sourceDir, golden);
  const single = await build('single');
  const weights = join(sourceDir, 'model.safetensors');
  await rm(weights);
  await writeSafetensors(weights, 'F32', joined(tensors));
  const both = await build('joined');
  expectSameBits(both.rows, single.rows);
  expect(both.parameterCount).toBe(single.parameterCount);
});
