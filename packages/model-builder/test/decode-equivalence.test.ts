// Batch invariance: the logits of a sequence do not depend on how its tokens are divided into calls and batches, nor on threads.

import { join } from 'node:path';
import { VARIANT_KV_TYPES, VARIANT_PRECISIONS } from '@ortler/engine/graph-contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { expectSameBits } from './same-bits.ts';
import { largestDifference, SlotsSession, type SlotsSessionOptions } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

const tokens = (count: number, seed: number) =>
  Array.from({ length: count }, (_, i) => (i * 31 + seed * 17) % 256);

/** Logits of every position when `sequence` is computed in calls of these lengths. */
async function logitsInCalls(
  built: string,
  sequence: readonly number[],
  lengths: readonly number[],
  options: SlotsSessionOptions = {},
): Promise<Float32Array[]> {
  const session = await SlotsSession.open(built, options);
  const rows: Float32Array[] = [];
  for (const length of lengths)
    rows.push(...(await session.run([sequence.slice(rows.length, rows.length + length)], [rows.length])));
  await session.close();
  return rows;
}

const DIVISIONS = [
  ['in two chunks', [13, 27]],
  ['in uneven chunks', [1, 20, 2, 16, 1]],
  ['in whole groups of the cache', [16, 16, 8]],
  ['token by token', new Array<number>(40).fill(1)],
] as const;

/** `file` has the formats of the others. */
const PRECISIONS = VARIANT_PRECISIONS.kernels.filter(precision => precision !== 'file');

const SHAPES = [
  { modelType: 'llama', config: {} },
  { modelType: 'qwen2', config: { hidden_size: 80, num_attention_heads: 5, num_key_value_heads: 1 } },
  { modelType: 'qwen3', config: { head_dim: 48, tie_word_embeddings: false, intermediate_size: 112 } },
] as const;

describe.each(
  SHAPES.flatMap(shape =>
    PRECISIONS.flatMap(precision =>
      VARIANT_KV_TYPES.kernels.map(kvType => ({ ...shape, precision, kvType })),
    ),
  ),
)('with the kernels, a $modelType in $precision with a $kvType cache', kind => {
  const { modelType, config, precision, kvType } = kind;
  const built = join(folder, `${modelType}-${precision}-${kvType}`);

  beforeAll(async () => {
    const source = `${built}-source`;
    await createTinyCheckpoint(source, { modelType, config });
    await buildModel({ sourceDir: source, outputDir: built, precision, variant: 'kernels', kvType });
  });

  it.each(DIVISIONS)(
    'has bit for bit the logits of a whole prompt when it is computed %s',
    async (_label, lengths) => {
      const prompt = tokens(40, 1);
      const whole = await logitsInCalls(built, prompt, [40]);
      expectSameBits(await logitsInCalls(built, prompt, lengths), whole);
    },
  );

  it.each([2, 3])('has bit for bit the logits of one thread with %d', async threadCount => {
    const prompt = tokens(40, 1);
    const alone = await logitsInCalls(built, prompt, [30, 10]);
    expectSameBits(await logitsInCalls(built, prompt, [30, 10], { threadCount }), alone);
  });

  it('decodes sequences of different lengths together bit for bit as each alone', async () => {
    const prompts = [tokens(7, 2), tokens(33, 3), tokens(1, 5), tokens(16, 6), tokens(20, 7)];
    const batch = prompts.length;
    const together = await SlotsSession.open(built, { batch, threadCount: 2 });
    const alone = await Promise.all(prompts.map(() => SlotsSession.open(built)));
    for (const [i, session] of alone.entries()) {
      await session.run([prompts[i]!], [0], [0]);
      together.copyCacheFrom(session, i);
    }
    for (let step = 0; step < 18; step++) {
      const next = prompts.map((_, i) => [(step * 13 + i * 101) % 256]);
      const lengths = prompts.map(prompt => prompt.length + step);
      const batched = await together.run(next, lengths);
      const single: Float32Array[] = [];
      for (const [i, session] of alone.entries())
        single.push(...(await session.run([next[i]!], [lengths[i]!])));
      expectSameBits(batched, single);
    }
    for (const session of [together, ...alone]) await session.close();
  });

  it('has bit for bit the same logits of a row whichever other rows are requested', async () => {
    const prompt = tokens(12, 4);
    const session = await SlotsSession.open(built);
    const all = await session.run([prompt], [0]);
    const some = await session.run([prompt], [0], [11, 0, 5]);
    await session.close();
    expectSameBits(
      some,
      [11, 0, 5].map(position => all[position]!),
    );
  });
});

/** Wide and long enough that products and attention are divided among threads, and keys into pieces. */
const LARGE = {
  hidden_size: 512,
  intermediate_size: 1024,
  num_hidden_layers: 1,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  head_dim: 64,
  max_position_embeddings: 2048,
} as const;

describe.each([
  { precision: 'f32', kvType: 'float16' },
  { precision: 'q8', kvType: 'int8' },
  { precision: 'q4', kvType: 'float32' },
] as const)('with the kernels, a large layer in $precision with a $kvType cache and 1,100 tokens', kind => {
  const built = join(folder, `large-${kind.precision}`);
  const prompt = tokens(1100, 8);
  const capacity = 1152;
  const last = [1088, ...new Array<number>(12).fill(1)];
  let expected: Float32Array[];

  beforeAll(async () => {
    const source = `${built}-source`;
    await createTinyCheckpoint(source, { config: LARGE });
    await buildModel({ sourceDir: source, outputDir: built, variant: 'kernels', ...kind });
    expected = (await logitsInCalls(built, prompt, [1100], { capacity })).slice(-12);
  });

  it.each([
    ['token by token at its end, with 1 thread', last, 1],
    ['token by token at its end, with 2 threads', last, 2],
    ['token by token at its end, with 3 threads', last, 3],
    ['in chunks of 256, with 2 threads', [256, 256, 256, 256, 76], 2],
    ['in chunks of 3 at its end, with 3 threads', [500, 588, 3, 3, 3, 3], 3],
  ])(
    'has bit for bit the logits of the whole when it is computed %s',
    async (_label, lengths, threadCount) => {
      const rows = await logitsInCalls(built, prompt, lengths, { capacity, threadCount });
      expectSameBits(rows.slice(-12), expected);
    },
  );
});

/**
 * ONNX Runtime's own operators add in another order for another number of rows, which differs in the last bits. In 8-bit
 * activations such a bit may move a code by one, which is 1/127 of the largest magnitude of its block.
 */
const SLOTS_BOUNDS = { f32: 2e-5, file: 2e-5, q8: 6e-2, q4: 6e-2 } as const;

describe.each(VARIANT_PRECISIONS.slots)("with ONNX Runtime's own operators, a qwen3 in %s", precision => {
  const built = join(folder, `slots-${precision}`);
  const bound = SLOTS_BOUNDS[precision];

  beforeAll(async () => {
    const source = `${built}-source`;
    await createTinyCheckpoint(source, { modelType: 'qwen3' });
    await buildModel({ sourceDir: source, outputDir: built, precision, variant: 'slots' });
  });

  it.each(DIVISIONS)(
    'has the logits of a whole prompt but for roundings when it is computed %s',
    async (_label, lengths) => {
      const prompt = tokens(40, 1);
      const whole = await logitsInCalls(built, prompt, [40]);
      const divided = await logitsInCalls(built, prompt, lengths);
      for (const [i, row] of divided.entries()) expect(largestDifference(row, whole[i]!)).toBeLessThan(bound);
    },
  );

  it('decodes sequences of different lengths together as each alone, but for roundings', async () => {
    const prompts = [tokens(7, 2), tokens(33, 3)];
    const together = await SlotsSession.open(built, { batch: 2 });
    const alone = await Promise.all(prompts.map(() => SlotsSession.open(built)));
    for (const [i, session] of alone.entries()) {
      await session.run([prompts[i]!], [0], [0]);
      together.copyCacheFrom(session, i);
    }
    for (let step = 0; step < 8; step++) {
      const next = prompts.map((_, i) => [(step * 13 + i * 101) % 256]);
      const lengths = prompts.map(prompt => prompt.length + step);
      const batched = await together.run(next, lengths);
      for (const [i, session] of alone.entries()) {
        const [row] = await session.run([next[i]!], [lengths[i]!]);
        expect(largestDifference(batched[i]!, row!)).toBeLessThan(bound);
      }
    }
    for (const session of [together, ...alone]) await session.close();
  });
});
