// A folder that another program exported, in the layout of Optimum and transformers.js, against our own build of the same
// checkpoint.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSlotsRunner,
  loadCore,
  type RunnerRow,
  readManifest,
  type SlotModelRunner,
} from '@ortler/engine/testing';
import { buildModel, ensureModel } from '@ortler/model-builder';
import { createTinyCheckpoint, writeOptimumModel } from '@ortler/model-builder/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logitsDistance } from './logits-distance.ts';
import { row, tokens } from './runner-rows.ts';

const OPTIONS = { slotCount: 4, contextLength: 64, threadCount: 1, spin: false } as const;
/** Kernels may add in another order for another number of rows. Logits of the tiny model are of the order of 1. */
const ROUNDING = 2e-5;

const EXPORTS = [
  { binding: 'native', modelType: 'llama', positionIds: false },
  { binding: 'native', modelType: 'qwen3', positionIds: true },
  { binding: 'node', modelType: 'llama', positionIds: true },
] as const;

describe.each(EXPORTS)('an exported $modelType, position ids: $positionIds, through $binding', kind => {
  const { binding, modelType, positionIds } = kind;
  let root: string;
  let exported: SlotModelRunner;
  let own: SlotModelRunner;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ortler-exported-'));
    const [checkpoint, optimum, built] = ['checkpoint', 'optimum', 'built'].map(name => join(root, name));
    await createTinyCheckpoint(checkpoint!, { modelType });
    const options = { precision: 'f32', logits: 'all', positionIds } as const;
    await writeOptimumModel({ sourceDir: checkpoint!, outputDir: optimum!, ...options });
    await buildModel({ sourceDir: checkpoint!, outputDir: built!, precision: 'f32', variant: 'slots' });
    const folder = await ensureModel({
      sourceDir: optimum!,
      cacheDir: join(root, 'cache'),
      precision: 'f32',
    });
    const { backend } = await selectBackend(binding);
    exported = await createSlotsRunner(backend, folder, await readManifest(folder), OPTIONS);
    own = await createSlotsRunner(backend, built!, await readManifest(built!), OPTIONS);
  });

  afterAll(async () => {
    await exported?.close();
    await own?.close();
    await rm(root, { recursive: true, force: true });
  });

  async function expectSame(...rows: RunnerRow[]): Promise<void> {
    const expected = (await own.run(rows)).slice();
    const actual = await exported.run(rows);
    expect(logitsDistance(actual, expected)).toBeLessThan(ROUNDING);
    expect(actual.every(Number.isFinite)).toBe(true);
  }

  it('computes whole prompts, and logits of the positions that were asked for', async () => {
    await expectSame(row(0, 0, tokens(9, 1)));
    await expectSame(row(0, 0, tokens(40, 2), 40), row(1, 0, tokens(7, 3), 3), row(2, 0, tokens(5, 4), 0));
  });

  it('computes chunks and decodes of several lengths together as each alone', async () => {
    await expectSame(row(0, 0, tokens(9, 1)));
    await expectSame(row(0, 9, tokens(1, 2)), row(1, 0, tokens(5, 3), 0));
    await expectSame(row(0, 10, tokens(1, 4)), row(1, 5, tokens(4, 5), 2), row(2, 0, tokens(1, 6)));
    await expectSame(row(0, 11, tokens(1, 7)), row(1, 9, tokens(1, 8)), row(2, 1, tokens(1, 9)));
    for (let step = 0; step < 30; step++)
      await expectSame(row(0, 12 + step, [step]), row(1, 10 + step, [7]), row(2, 2 + step, [9]));
  });

  it('goes on from copied and exchanged slots', async () => {
    for (const runner of [exported, own]) {
      await runner.run([row(0, 0, tokens(20, 1)), row(1, 0, tokens(6, 2))]);
      runner.copySlot(0, 2, 12);
      runner.swapSlots(1, 2, 12);
    }
    await expectSame(row(0, 20, [1]), row(1, 12, [2]), row(2, 6, [3]));
  });

  it('fills a slot to its last token', async () => {
    await expectSame(row(3, 0, tokens(63, 5)));
    await expectSame(row(3, 63, [6]));
  });
});

describe('an exported model whose logits take more memory than a call has', () => {
  it('computes long chunks in pieces', async () => {
    const root = await mkdtemp(join(tmpdir(), 'ortler-exported-'));
    const [checkpoint, optimum] = [join(root, 'checkpoint'), join(root, 'optimum')];
    // 32 MiB are 28 rows; with the slots, calls have 30.
    await createTinyCheckpoint(checkpoint, { config: { vocab_size: 300_000, hidden_size: 16 } });
    await writeOptimumModel({ sourceDir: checkpoint, outputDir: optimum, precision: 'f32', logits: 'all' });
    const folder = await ensureModel({ sourceDir: optimum, cacheDir: join(root, 'c'), precision: 'f32' });
    const { backend } = await selectBackend('native');
    const options = { ...OPTIONS, slotCount: 2 };
    const runner = await createSlotsRunner(backend, folder, await readManifest(folder), options);
    const prompt = tokens(50, 3);
    const { vocabSize } = runner.facts;
    const together = (await runner.run([row(0, 0, prompt, 24)])).slice();
    expect(together.length).toBe(24 * vocabSize);
    for (const count of [27, 40, 50]) {
      const alone = await runner.run([row(1, 0, prompt.slice(0, count))]);
      const start = (count - 27) * vocabSize;
      let difference = 0;
      for (let i = 0; i < vocabSize; i++)
        difference = Math.max(difference, Math.abs(alone[i]! - together[start + i]!));
      expect(difference).toBeLessThan(ROUNDING);
    }
    await runner.close();
    await rm(root, { recursive: true, force: true });
  });
});

describe('the core on an exported model', () => {
  it('loads it', async () => {
    const root = await mkdtemp(join(tmpdir(), 'ortler-exported-'));
    const [checkpoint, optimum] = [join(root, 'checkpoint'), join(root, 'optimum')];
    await createTinyCheckpoint(checkpoint);
    await writeOptimumModel({ sourceDir: checkpoint, outputDir: optimum, precision: 'q4', logits: 'all' });
    const modelDir = await ensureModel({ sourceDir: optimum, cacheDir: join(root, 'c'), precision: 'q4' });
    const core = await loadCore({
      modelDir,
      threadCount: 1,
      maxSequences: 2,
      tuning: { prefillChunkLength: 16, maxQueuedSequences: 4 },
    });
    expect(core.facts).toMatchObject({ runner: 'slots', device: 'cpu', vocabSize: 288, contextLength: 512 });
    await core.close();
    await rm(root, { recursive: true, force: true });
  });
});
