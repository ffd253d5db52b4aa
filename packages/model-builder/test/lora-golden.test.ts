// Builds with a merged adapter against the logits that peft computes with base and adapter side by side.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import type { CheckpointType } from '../src/hugging-face/element-types.ts';
import { fillSeeded } from '../src/testing/seeded-weights.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { writeAdapter } from '../src/testing/write-adapter.ts';
import { largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface GoldenCase {
  readonly name: string;
  readonly modelType: 'llama' | 'qwen2' | 'qwen3';
  readonly seed: number;
  readonly config: Record<string, unknown>;
  readonly adapterType: CheckpointType;
  readonly adapterConfig: Record<string, unknown>;
  readonly adapterShapes: Record<string, number[]>;
  readonly prompt: number[];
  readonly logitStride: number;
  readonly logits: number[][];
  readonly lastLogits: number[];
  readonly largestChange: number;
}

const golden = JSON.parse(readFileSync(new URL('./golden/lora.json', import.meta.url), 'utf8')) as {
  provenance: Record<string, string>;
  cases: GoldenCase[];
};
const folder = temporaryFolder();

it('states which versions made the golden', () => {
  expect(golden.provenance).toMatchObject({
    script: 'make_lora_goldens.py',
    torch: expect.stringMatching(/^\d+\.\d+/),
    peft: expect.stringMatching(/^\d+\.\d+/),
  });
  expect(golden.cases.length).toBeGreaterThan(0);
});

describe.each(golden.cases)('$name', golden => {
  const sourceDir = join(folder, golden.name, 'source');
  const adapterDir = join(folder, golden.name, 'adapter');
  const { modelType, seed, config, prompt } = golden;

  beforeAll(async () => {
    await createTinyCheckpoint(sourceDir, { modelType, seed, config });
    const tensors = Object.entries(golden.adapterShapes).map(([name, shape]) => ({
      name,
      shape,
      fill: (target: Float32Array, start: number) => fillSeeded(target, { seed, name, start, scale: 0.25 }),
    }));
    await writeAdapter(adapterDir, golden.adapterConfig, tensors, golden.adapterType);
  });

  it('gives every logit of 64 positions within 1e-4', async () => {
    const outputDir = join(folder, golden.name, 'built');
    await buildModel({ sourceDir, adapterDir, outputDir, precision: 'f32' });
    const session = await SlotsSession.open(outputDir);
    const logits = await session.run([prompt], [0]);
    await session.close();
    // Without the adapter the logits would be off by far more.
    expect(golden.largestChange).toBeGreaterThan(0.5);
    for (const [position, expected] of golden.logits.entries()) {
      const row = logits[position]!.filter((_, i) => i % golden.logitStride === 0);
      expect(largestDifference(row, expected), `position ${position}`).toBeLessThan(1e-4);
    }
    expect(largestDifference(logits.at(-1)!, golden.lastLogits)).toBeLessThan(1e-4);
  });
});
