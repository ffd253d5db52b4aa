// Builds with each type of KV cache against a plain decoder that rounds keys and values alike.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultKvType, type KvType, VARIANT_KV_TYPES } from '@ortler/engine/graph-contract';
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
  { label: 'llama of one layer', modelType: 'llama', config: { num_hidden_layers: 1 } },
  { label: 'llama, as many key heads as heads', modelType: 'llama', config: { num_key_value_heads: 4 } },
  { label: 'qwen2', modelType: 'qwen2', config: { tie_word_embeddings: false } },
  { label: 'qwen3, wide heads', modelType: 'qwen3', config: { head_dim: 32 } },
];

/**
 * Sums in another order may turn the rounding of a cached number by one step: in int8 1/127 of the largest of its head, in
 * float16 2^-11 of itself. Logits are of the order of 1. Seen: 6e-6, 4.8e-4 and 3e-6 (no turned code).
 */
const BOUNDS = { float32: 1.2e-5, float16: 1e-3, int8: 5e-3 } as const satisfies Record<KvType, number>;

describe.each(SHAPES.flatMap(shape => VARIANT_KV_TYPES.kernels.map(kvType => ({ shape, kvType }))))(
  'a $kvType KV cache in a $shape.label',
  ({ shape, kvType }) => {
    const base = join(folder, `${shape.label} ${kvType}`);
    const [source, built] = [join(base, 'source'), join(base, 'built')];
    let config: DecoderConfig;

    beforeAll(async () => {
      config = await createTinyCheckpoint(source, shape);
      await buildModel({ sourceDir: source, outputDir: built, precision: 'f32', kvType });
    });

    it('has the logits of a plain decoder that rounds alike, after a prompt and token by token', async () => {
      const expected = plainLogits(config, prompt, { kvType });
      const session = await SlotsSession.open(built);
      const rows = await session.run([prompt.slice(0, 23)], [0]);
      while (rows.length < prompt.length)
        rows.push(...(await session.run([[prompt[rows.length]!]], [rows.length])));
      await session.close();
      expect(largest(rows, expected)).toBeLessThan(BOUNDS[kvType]);
      if (kvType === 'float32') return;
      // A cache that is not rounded, or not to this type, would show.
      expect(largest(expected, plainLogits(config, prompt))).toBeGreaterThan(BOUNDS[kvType]);
    });
  },
);

function largest(rows: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): number {
  return Math.max(...rows.map((row, i) => largestDifference(row, expected[i]!)));
}

describe('the identity of a build', () => {
  it('differs with an int8 KV cache, and is the default one when the default type is named', async () => {
    const source = join(folder, 'identity');
    await createTinyCheckpoint(source);
    const hash = (kvType?: KvType) =>
      computeContentHash({ sourceDir: source, precision: 'q4', variant: 'kernels', kvType });
    const hashes = await Promise.all(VARIANT_KV_TYPES.kernels.map(hash));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(await hash()).toBe(await hash(defaultKvType('kernels', 'q4')));
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

  it.each([
    [
      'paged',
      'int8',
      'a "paged" graph has no int8 cache; it has float16: PagedAttention of ONNX Runtime 1.30 has no other on WebGPU',
    ],
    ['device-slots', 'float32', 'a "device-slots" graph has no float32 cache; it has float16, int8'],
    ['slots', 'int8', 'a "slots" graph has no int8 cache; it has float32'],
    ['slots', 'float16', 'a "slots" graph has no float16 cache; it has float32'],
  ] as const)('is refused for %s with a %s cache', async (variant, kvType, message) => {
    const source = join(folder, `refused-${variant}-${kvType}`);
    await createTinyCheckpoint(source);
    const options = { sourceDir: source, precision: 'q4', variant, kvType } as const;
    const refusal = { code: 'unsupported', message };
    const outputDir = `${source}-built`;
    await expect(buildModel({ ...options, outputDir })).rejects.toMatchObject(refusal);
    await expect(ensureModel({ ...options, cacheDir: outputDir })).rejects.toMatchObject(refusal);
  });
});
