// The graph for prompts against a float32 build of the same checkpoint: the cache that it fills must make the other
// graph continue nearly as if it had computed the prompt itself in float32.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_FILE, type ModelManifest } from '@ortler/engine/graph-contract';
import { describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { createTinyCheckpoint, type TinyCheckpointOptions } from '../src/tiny-model.ts';
import { SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const prompt = Array.from({ length: 64 }, (_, i) => (i * 37 + 11) % 256);

const SHAPES: readonly (TinyCheckpointOptions & { readonly label: string })[] = [
  { label: 'llama, tied', modelType: 'llama' },
  {
    label: 'llama, biases, sizes that are not whole blocks',
    modelType: 'llama',
    config: { attention_bias: true, mlp_bias: true, hidden_size: 80, intermediate_size: 112 },
  },
  { label: 'qwen2', modelType: 'qwen2' },
  { label: 'qwen3, wide heads', modelType: 'qwen3', config: { head_dim: 32 } },
];

/**
 * Keys and values are off by two roundings to 8 bits for each product before them, about 0.5 % each in the mean square
 * over a row; two layers chain five of them.
 */
const ROOT_MEAN_SQUARE_BOUND = 0.03;

async function openBuild(shape: TinyCheckpointOptions, precision: 'f32' | 'q4', name: string) {
  const sourceDir = join(folder, name, 'source');
  const outputDir = join(folder, name, precision);
  await createTinyCheckpoint(sourceDir, shape);
  const manifest = await buildModel({ sourceDir, outputDir, precision });
  return { outputDir, manifest };
}

describe.each(SHAPES)('the prefill graph of $label', shape => {
  it('fills the cache as float32 does, within the stated bound, and each token alone as all at once', async () => {
    const reference = await openBuild(shape, 'f32', shape.label);
    const built = await openBuild(shape, 'q4', shape.label);
    const graphFile = built.manifest.prefillGraphFile!;
    const [exact, whole, single] = [
      await SlotsSession.open(reference.outputDir),
      await SlotsSession.open(built.outputDir, { graphFile }),
      await SlotsSession.open(built.outputDir, { graphFile }),
    ];
    await exact.run([prompt], [0]);
    await whole.fill(prompt, 0);
    for (const [position, token] of prompt.entries()) await single.fill([token], position);
    const error = relativeError(whole.cacheOf(prompt.length), exact.cacheOf(prompt.length));
    expect(error).toBeLessThan(ROOT_MEAN_SQUARE_BOUND);
    // The rounding is really there; a difference of nothing would mean that the wrong graph was run.
    expect(error).toBeGreaterThan(1e-4);
    expect(relativeError(single.cacheOf(prompt.length), whole.cacheOf(prompt.length))).toBeLessThan(1e-3);
    for (const session of [exact, whole, single]) await session.close();
  });
});

describe('a build with a prefill graph', () => {
  it('stores what both graphs share once', async () => {
    const { outputDir } = await openBuild({ modelType: 'llama' }, 'q4', 'shared');
    const prefillWeights = await stat(join(outputDir, 'prefill.onnx.data'));
    // Two layers without tables, norms and the embedding: integer codes, their scales, and gaps to whole pages.
    const codes = 2 * (64 * (64 + 2 * 32) + 64 * 64 + 3 * 64 * 128);
    expect(prefillWeights.size).toBeLessThan(codes + 20 * 4096);
  });

  it('has none in float32, where it would only be coarser', async () => {
    const { outputDir, manifest } = await openBuild({ modelType: 'llama' }, 'f32', 'plain');
    expect(manifest.prefillGraphFile).toBeUndefined();
    const written = JSON.parse(await readFile(join(outputDir, MANIFEST_FILE), 'utf8')) as ModelManifest;
    expect(written).not.toHaveProperty('prefillGraphFile');
  });
});

/** Root of the mean squared difference over the root of the mean square. */
function relativeError(values: Float32Array, expected: Float32Array): number {
  let differences = 0;
  let squares = 0;
  for (let i = 0; i < expected.length; i++) {
    differences += (values[i]! - expected[i]!) ** 2;
    squares += expected[i]! ** 2;
  }
  return Math.sqrt(differences / squares);
}
