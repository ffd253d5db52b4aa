// Float32 builds of small seeded checkpoints against logits and greedy tokens that transformers computed.

import { join } from 'node:path';
import type { ModelManifest } from '@ortler/engine/graph-contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { createTinyCheckpoint, seededTensors } from '../src/testing/tiny-model.ts';
import type { TensorToWrite } from '../src/testing/write-safetensors.ts';
import { DECODER_GOLDEN } from './decoder-golden.ts';
import { argmax, largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

it('states which versions made the golden', () => {
  expect(DECODER_GOLDEN.provenance).toMatchObject({
    script: 'make_goldens.py',
    torch: expect.stringMatching(/^\d+\.\d+/),
    transformers: expect.stringMatching(/^\d+\.\d+/),
  });
  expect(DECODER_GOLDEN.cases.length).toBeGreaterThan(0);
});

/** How many weights there are, and the sum of their bits modulo 2^32, as the golden script computes it. */
function summarise(tensors: readonly TensorToWrite[]): { count: number; bitSum: number } {
  let count = 0;
  let bitSum = 0;
  for (const tensor of tensors) {
    const values = new Float32Array(tensor.shape.reduce((product, dim) => product * dim, 1));
    tensor.fill(values, 0);
    count += values.length;
    for (const bits of new Uint32Array(values.buffer)) bitSum = (bitSum + bits) >>> 0;
  }
  return { count, bitSum };
}

describe.each(DECODER_GOLDEN.cases)('$name', golden => {
  const source = join(folder, golden.name, 'source');
  const output = join(folder, golden.name, 'built');
  const { modelType, seed, config, prompt } = golden;

  let weights: { count: number; bitSum: number };
  let manifest: ModelManifest;

  beforeAll(async () => {
    const parsed = await createTinyCheckpoint(source, { modelType, seed, config });
    weights = summarise(seededTensors(parsed, seed));
    manifest = await buildModel({ sourceDir: source, outputDir: output, precision: 'f32' });
  });

  it('is built from the very weights that the golden was computed from', () => {
    expect(weights).toEqual({ count: golden.weightCount, bitSum: golden.weightBitSum });
    expect(manifest.parameterCount).toBe(golden.weightCount);
  });

  it('gives every logit of 64 positions within 1e-4', async () => {
    const session = await SlotsSession.open(output);
    const logits = await session.run([prompt], [0]);
    await session.close();
    for (const [position, expected] of golden.logits.entries()) {
      const row = logits[position]!.filter((_, i) => i % golden.logitStride === 0);
      expect(largestDifference(row, expected), `position ${position}`).toBeLessThan(1e-4);
    }
    expect(largestDifference(logits.at(-1)!, golden.lastLogits)).toBeLessThan(1e-4);
  });

  it('continues greedily with the same 32 tokens', async () => {
    const session = await SlotsSession.open(output);
    const greedy: number[] = [];
    let [row] = await session.run([prompt], [0], [prompt.length - 1]);
    while (greedy.length < golden.greedy.length) {
      const next = argmax(row!);
      greedy.push(next);
      [row] = await session.run([[next]], [prompt.length + greedy.length - 1]);
    }
    await session.close();
    expect(greedy).toEqual(golden.greedy);
  });
});
