// Batch invariance: the logits of a sequence do not depend on how its tokens are divided into calls and batches.

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

/**
 * Sums in another order differ in the last bits. In 8-bit activations such a bit may move a code by one, which is 1/127 of
 * the largest magnitude of its block.
 */
const BOUNDS = { f32: 2e-5, q8: 6e-2, q4: 6e-2 } as const;

const tokens = (count: number, seed: number) =>
  Array.from({ length: count }, (_, i) => (i * 31 + seed * 17) % 256);

describe.each(
  (['llama', 'qwen2', 'qwen3'] as const).flatMap(modelType =>
    (['f32', 'q8', 'q4'] as const).map(precision => ({ modelType, precision })),
  ),
)('$modelType in $precision', ({ modelType, precision }) => {
  const built = join(folder, `${modelType}-${precision}`);
  const bound = BOUNDS[precision];

  beforeAll(async () => {
    const source = `${built}-source`;
    await createTinyCheckpoint(source, { modelType });
    await buildModel({ sourceDir: source, outputDir: built, precision });
  });

  /** Logits of every position when `sequence` is computed in calls of these lengths. */
  async function logitsInCalls(
    sequence: readonly number[],
    lengths: readonly number[],
  ): Promise<Float32Array[]> {
    const session = await SlotsSession.open(built);
    const rows: Float32Array[] = [];
    for (const length of lengths) {
      rows.push(...(await session.run([sequence.slice(rows.length, rows.length + length)], [rows.length])));
    }
    await session.close();
    return rows;
  }

  it.each([
    ['in two chunks', [13, 27]],
    ['in uneven chunks', [1, 20, 2, 16, 1]],
    ['token by token', new Array<number>(40).fill(1)],
  ])('a prompt computed %s has the logits of one computed whole', async (_label, lengths) => {
    const prompt = tokens(40, 1);
    const whole = await logitsInCalls(prompt, [40]);
    const divided = await logitsInCalls(prompt, lengths);
    for (const [i, row] of divided.entries()) expect(largestDifference(row, whole[i]!)).toBeLessThan(bound);
  });

  it('sequences of different lengths decode together as they do alone', async () => {
    const prompts = [tokens(7, 2), tokens(33, 3)];
    const steps = 8;
    const together = await SlotsSession.open(built, { batch: 2 });
    const alone = await Promise.all(prompts.map(() => SlotsSession.open(built)));
    for (const [i, session] of alone.entries()) {
      await session.run([prompts[i]!], [0], [0]);
      together.copyCacheFrom(session, i);
    }
    for (let step = 0; step < steps; step++) {
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

  it('logits of a row do not depend on which other rows are requested', async () => {
    const prompt = tokens(12, 4);
    const session = await SlotsSession.open(built);
    const all = await session.run([prompt], [0]);
    const some = await session.run([prompt], [0], [11, 0, 5]);
    await session.close();
    for (const [i, position] of [11, 0, 5].entries()) {
      expect(largestDifference(some[i]!, all[position]!)).toBeLessThan(bound);
    }
  });
});
