// Builds with an int8 KV cache: both graphs against a plain decoder that quantises alike, and against each other.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pastName } from '@ortler/engine/graph-contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { computeContentHash } from '../src/content-hash.ts';
import { ensureModel } from '../src/ensure-model.ts';
import type { DecoderConfig } from '../src/hugging-face/decoder-config.ts';
import { createTinyCheckpoint, type TinyCheckpointOptions } from '../src/testing/tiny-model.ts';
import { plainLogits } from './plain-decoder.ts';
import { largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const prompt = Array.from({ length: 40 }, (_, i) => (i * 37 + 11) % 256);

const SHAPES: readonly (TinyCheckpointOptions & { readonly label: string })[] = [
  { label: 'llama', modelType: 'llama' },
  { label: 'llama of one layer, which only appends', modelType: 'llama', config: { num_hidden_layers: 1 } },
  { label: 'llama, as many key heads as heads', modelType: 'llama', config: { num_key_value_heads: 4 } },
  { label: 'qwen2', modelType: 'qwen2', config: { tie_word_embeddings: false } },
  { label: 'qwen3, wide heads', modelType: 'qwen3', config: { head_dim: 32 } },
];

/**
 * Sums in another order may change the code of a number between two codes by one step. Logits are of the order
 * of 1, and one step of one channel moves them by a few thousandths.
 */
const TURNED_ROUNDING = 5e-3;

/** Ordinary scales: about 1/40 for numbers of the order of 1, different for each channel. */
const FINE = (row: number, channel: number) => 0.02 + 0.01 * ((row + channel) % 2);
/** Nearly half of all numbers are beyond 127 steps. */
const SATURATING = (row: number) => (row % 2 === 0 ? 0.006 : 0.005);

describe.each(SHAPES)('an int8 KV cache in a $label', shape => {
  const base = join(folder, shape.label);
  const source = join(base, 'source');
  const built = join(base, 'built');
  let config: DecoderConfig;

  beforeAll(async () => {
    config = await createTinyCheckpoint(source, shape);
    await buildModel({ sourceDir: source, outputDir: built, precision: 'f32', kvType: 'int8' });
  });

  /** Channels that are rotated together have one scale. */
  function scalesOf(choose: (row: number, channel: number) => number): Float32Array {
    const { layerCount, kvHeadCount, headSize } = config;
    const width = kvHeadCount * headSize;
    return Float32Array.from({ length: 2 * layerCount * width }, (_, i) =>
      choose(Math.floor(i / width), (i % width) % (headSize / 2)),
    );
  }

  /** Logits after each token from `prefillCount` on, the ones before it computed by the graph for prompts in such chunks. */
  async function logitsAfter(scales: Float32Array, prefillCount: number, chunk: number) {
    const prefill = await SlotsSession.open(built, { graphFile: 'prefill.onnx', scales });
    const decoder = await SlotsSession.open(built, { scales });
    for (let start = 0; start < prefillCount; start += chunk)
      await prefill.fill(prompt.slice(start, Math.min(start + chunk, prefillCount)), start);
    decoder.copyCacheFrom(prefill, 0);
    const rows: Float32Array[] = [];
    for (let position = prefillCount; position < prompt.length; position++)
      rows.push(...(await decoder.run([[prompt[position]!]], [position])));
    await prefill.close();
    await decoder.close();
    return rows;
  }

  const largest = (rows: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]) =>
    Math.max(...rows.map((row, i) => largestDifference(row, expected[i]!)));

  it.each([
    ['ordinary scales', FINE],
    ['scales so small that most numbers are held at the limit', SATURATING],
  ])('has the logits of a plain decoder that rounds alike, with %s', async (_label, choose) => {
    const scales = scalesOf(choose);
    const expected = plainLogits(config, prompt, { scales });
    const exact = plainLogits(config, prompt);
    // Makes sure that the cache is quantised: without it, logits differ.
    expect(largest(expected, exact)).toBeGreaterThan(3 * TURNED_ROUNDING);
    expect(largest(await logitsAfter(scales, 0, 1), expected)).toBeLessThan(TURNED_ROUNDING);
    for (const [prefillCount, chunk] of [
      [39, 39],
      [30, 7],
      [5, 1],
    ] as const) {
      const rows = await logitsAfter(scales, prefillCount, chunk);
      expect(largest(rows, expected.slice(prefillCount))).toBeLessThan(TURNED_ROUNDING);
    }
  });

  it('gets the same codes from both graphs, in the first layer', async () => {
    const scales = scalesOf(FINE);
    const prefill = await SlotsSession.open(built, { graphFile: 'prefill.onnx', scales });
    const decoder = await SlotsSession.open(built, { scales });
    await prefill.fill(prompt, 0);
    await decoder.run([prompt], [0]);
    for (const part of ['key', 'value'] as const) {
      const codes = prefill.codesOf(pastName(0, part));
      expect(codes).toEqual(decoder.codesOf(pastName(0, part)));
      expect(new Set(codes).size).toBeGreaterThan(50);
    }
    await prefill.close();
    await decoder.close();
  });
});

describe('the identity of a build', () => {
  it('differs with an int8 KV cache, and is the default one when the default type is named', async () => {
    const source = join(folder, 'identity');
    await createTinyCheckpoint(source);
    const hash = (kvType?: 'float32' | 'int8') =>
      computeContentHash({ sourceDir: source, precision: 'q4', variant: 'slots', kvType });
    const [unnamed, named, codes] = [await hash(), await hash('float32'), await hash('int8')];
    expect(named).toBe(unnamed);
    expect(codes).not.toBe(unnamed);
    const cacheDir = join(folder, 'identity-cache');
    const options = { sourceDir: source, cacheDir, precision: 'q8' } as const;
    const path = await ensureModel({ ...options, kvType: 'int8' });
    await ensureModel(options);
    const kinds = (await readdir(cacheDir)).map(name => name.replace(/[0-9a-f]{32}$/, ''));
    expect(kinds.toSorted()).toEqual(['q8-', 'q8-kv8-', 'stamps']);
    await expect(ensureModel({ ...options, sourceDir: path, kvType: 'float32' })).rejects.toMatchObject({
      code: 'unsupported',
      message: `${path} is built already, with a cache in int8; one in float32 needs a build from the checkpoint`,
    });
    expect(await ensureModel({ ...options, sourceDir: path })).toBe(path);
  });

  it('is refused for paged graphs of a GPU', async () => {
    const source = join(folder, 'refused');
    await createTinyCheckpoint(source);
    const build = buildModel({
      ...{ sourceDir: source, outputDir: join(folder, 'refused-built') },
      ...{ precision: 'q4', variant: 'paged', kvType: 'int8' },
    });
    await expect(build).rejects.toMatchObject({
      code: 'unsupported',
      message: 'a "paged" graph has no int8 cache; it has float16',
    });
  });
});
