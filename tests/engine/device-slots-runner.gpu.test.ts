// The slots runner on a device against the one on the CPU, and its own promises.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layerCaches, type Precision } from '@ortler/engine/graph-contract';
import {
  type CoreFacts,
  createDeviceSlotsRunner,
  createSlotsRunner,
  loadCore,
  type RunnerRow,
  readManifest,
  type SlotModelRunner,
} from '@ortler/engine/testing';
import { buildModel, ensureModel } from '@ortler/model-builder';
import {
  createTinyCheckpoint,
  type OptimumModelOptions,
  writeOptimumModel,
} from '@ortler/model-builder/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from '../../packages/model-builder/test/decoder-golden.ts';
import { row, tokens } from './runner-rows.ts';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

const OPTIONS = { slotCount: 4, contextLength: 64, threadCount: 1, spin: false } as const;

/** Float32 on both sides; sums are in another order. Logits of the tiny model are of the order of 1. Seen: 3e-6. */
const ROUNDING = 1e-4;
/**
 * Both round activations to 8 bits, and a number on the edge of two roundings may go either way. Seen: 0.07, where the logits
 * of another sequence are off by 0.5 and more.
 */
const HALF_ROUNDING = 0.15;
/** The CPU rounds activations of quantised products to 8 bits per block, the device does not at this size. Seen: 0.16. */
const ACTIVATION_ROUNDING = 0.2;

const reason = await whyNoWebGpu();

describe.skipIf(reason !== undefined).each([
  { modelType: 'llama', precision: 'f32', bound: ROUNDING },
  { modelType: 'qwen3', precision: 'f32', bound: ROUNDING },
  { modelType: 'llama', precision: 'q8', bound: ACTIVATION_ROUNDING },
  { modelType: 'qwen3', precision: 'q4', bound: ACTIVATION_ROUNDING },
] as const)(
  `the slots runner on a device with a $modelType in $precision, ${reason ?? 'here'}`,
  ({ modelType, precision, bound }) => {
    let folder: TinyModelFolder;
    let device: SlotModelRunner;
    let processor: SlotModelRunner;

    beforeAll(async () => {
      folder = await createTinyModelFolder(precision, { modelType }, { variant: 'slots' });
      const { backend } = await selectBackend('native');
      const manifest = await readManifest(folder.dir);
      processor = await createSlotsRunner(backend, folder.dir, manifest, OPTIONS);
      const options = { ...OPTIONS, device: 'webgpu' } as const;
      device = await createDeviceSlotsRunner(backend, folder.dir, manifest, options);
    });

    afterAll(async () => {
      await device?.close();
      await processor?.close();
      await folder?.remove();
    });

    async function expectSame(...rows: RunnerRow[]): Promise<void> {
      const expected = (await processor.run(rows)).slice();
      const actual = await device.run(rows);
      expect(actual.length).toBe(expected.length);
      for (let i = 0; i < actual.length; i++) expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThan(bound);
    }

    it('computes chunks and decodes of several sequences as the CPU does', async () => {
      await expectSame(row(0, 0, tokens(9, 1)));
      await expectSame(row(0, 9, tokens(1, 2)), row(1, 0, tokens(5, 3), 0));
      await expectSame(row(0, 10, tokens(1, 4)), row(1, 5, tokens(4, 5), 3), row(2, 0, tokens(1, 6)));
      await expectSame(row(0, 11, tokens(1, 7)), row(1, 9, tokens(1, 8)), row(2, 1, tokens(1, 9)));
    });

    it('copies and exchanges slots, one after the other as they were asked for', async () => {
      for (const runner of [device, processor]) {
        await runner.run([row(0, 0, tokens(8, 1)), row(1, 0, tokens(6, 2))]);
        runner.copySlot(0, 2, 8);
        runner.swapSlots(1, 2, 8);
        runner.copySlot(2, 3, 6);
      }
      await expectSame(row(0, 8, [1]), row(1, 8, [2]), row(2, 6, [3]), row(3, 6, [4]));
    });

    it('fills a slot to its last token', async () => {
      await expectSame(row(3, 0, tokens(63, 5)));
      await expectSame(row(3, 63, tokens(1, 6)));
    });

    it('gives logits of every position of a long chunk', async () => {
      await expectSame(row(2, 0, tokens(60, 8), 60));
      await expectSame(row(2, 0, tokens(60, 8), 31), row(1, 0, tokens(33, 9), 1));
    });
  },
);

const GEMMA_4 = DECODER_GOLDENS.find(({ family }) => family === 'gemma4_text')!.cases;

describe.skipIf(reason !== undefined).each(GEMMA_4)(
  `a model whose layers have caches of different sizes on a device: $name, ${reason ?? 'here'}`,
  golden => {
    it('computes chunks and decodes of several sequences as the CPU does', async () => {
      const root = await mkdtemp(join(tmpdir(), 'ortler-layers-'));
      const [sourceDir, outputDir] = [join(root, 'source'), join(root, 'slots')];
      await writeGoldenCheckpoint(sourceDir, golden);
      await buildModel({ sourceDir, outputDir, precision: 'f32', variant: 'slots' });
      const { backend } = await selectBackend('native');
      const manifest = await readManifest(outputDir);
      expect(new Set(layerCaches(manifest).map(({ headSize }) => headSize)).size).toBe(2);
      const processor = await createSlotsRunner(backend, outputDir, manifest, OPTIONS);
      const device = await createDeviceSlotsRunner(backend, outputDir, manifest, {
        ...OPTIONS,
        device: 'webgpu',
      });
      const ids = golden.prompts[0]!.tokens;
      for (const runner of [processor, device]) {
        await runner.run([row(0, 0, ids.slice(0, 20))]);
        runner.copySlot(0, 2, 20);
      }
      for (const rows of [
        [row(0, 20, ids.slice(20), 3), row(1, 0, ids.slice(0, 9))],
        [row(0, ids.length, [5]), row(1, 9, ids.slice(9, 31)), row(2, 20, [ids[20]!])],
      ]) {
        const expected = (await processor.run(rows)).slice();
        const actual = await device.run(rows);
        expect(actual.length).toBe(expected.length);
        for (const [i, logit] of expected.entries())
          expect(Math.abs(actual[i]! - logit)).toBeLessThan(ROUNDING);
      }
      await device.close();
      await processor.close();
      await rm(root, { recursive: true });
    });
  },
);

describe.skipIf(reason !== undefined)(
  `a model of slots that is loaded for a device, ${reason ?? 'here'}`,
  () => {
    const factsOf = async (precision: Precision, isDeviceOptional: boolean): Promise<CoreFacts> => {
      const folder = await createTinyModelFolder(precision, {}, { variant: 'slots' });
      const core = await loadCore({
        modelDir: folder.dir,
        device: 'webgpu',
        isDeviceOptional,
        threadCount: 1,
        contextLength: 64,
        maxSequences: 2,
        tuning: { prefillChunkLength: 32, maxQueuedSequences: 4 },
      });
      await core.close();
      await folder.remove();
      return core.facts;
    };

    it.each(['q8', 'q4'] as const)('in %s leaves no products on the CPU', async precision => {
      const facts = await factsOf(precision, false);
      expect(facts.device).toBe('webgpu');
      expect(facts.deviceNote).toBeUndefined();
    });

    it('in f32 leaves products on the CPU, and says so where it runs there all the same', async () => {
      const facts = await factsOf('f32', false);
      expect(facts).toMatchObject({
        device: 'webgpu',
        deviceNote: expect.stringMatching(/FusedMatMul \(\d+\)/),
      });
    });

    it('stays on the CPU where it would leave products there, with the reason', async () => {
      const facts = await factsOf('f32', true);
      expect(facts).toMatchObject({
        device: 'cpu',
        deviceNote: expect.stringMatching(/FusedMatMul .*So the whole model runs on the CPU/),
      });
    });
  },
);

describe.skipIf(reason !== undefined)(`a cache that the device has no room for, ${reason ?? 'here'}`, () => {
  it('is refused with the settings to lower', async () => {
    const folder = await createTinyModelFolder('f32', {}, { variant: 'slots' });
    const { backend } = await selectBackend('native');
    const manifest = await readManifest(folder.dir);
    const options = { ...OPTIONS, device: 'webgpu', contextLength: 2 ** 36 } as const;
    await expect(createDeviceSlotsRunner(backend, folder.dir, manifest, options)).rejects.toMatchObject({
      code: 'engine_failed',
      message: expect.stringMatching(/4 slots .*contextLength 68719476736 .*"webgpu".* lower one/),
    });
    await folder.remove();
  });
});

describe.skipIf(reason !== undefined)(`an exported model on a device, ${reason ?? 'here'}`, () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ortler-exported-'));
    await createTinyCheckpoint(join(root, 'checkpoint'), { modelType: 'qwen3' });
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  type Changes = Pick<OptimumModelOptions, 'precision' | 'halves' | 'positionIds'>;

  async function exportModel(name: string, changes: Changes, variant: 'slots' | 'paged'): Promise<string> {
    const sourceDir = join(root, name);
    await writeOptimumModel({
      sourceDir: join(root, 'checkpoint'),
      outputDir: sourceDir,
      logits: 'all',
      ...changes,
    });
    const { precision } = changes;
    return ensureModel({ sourceDir, cacheDir: join(root, 'cache'), precision, variant });
  }

  async function open(dir: string, device: 'cpu' | 'webgpu'): Promise<SlotModelRunner> {
    const { backend } = await selectBackend('native');
    const manifest = await readManifest(dir);
    return device === 'cpu'
      ? createSlotsRunner(backend, dir, manifest, OPTIONS)
      : createDeviceSlotsRunner(backend, dir, manifest, { ...OPTIONS, device });
  }

  /** Plays chunks, decodes and rows with several logits through both. Gives the largest difference. */
  async function compare(found: SlotModelRunner, own: SlotModelRunner): Promise<number> {
    let largest = 0;
    for (const rows of [
      [row(0, 0, tokens(20, 1), 5), row(1, 0, tokens(9, 2))],
      [row(0, 20, [1]), row(1, 9, tokens(21, 3), 3)],
      [row(0, 21, tokens(40, 6), 12), row(1, 30, [2])],
      ...Array.from({ length: 20 }, (_, step) => [row(1, 31 + step, [step])]),
    ]) {
      const expected = (await own.run(rows)).slice();
      const actual = await found.run(rows);
      expect(actual.length).toBe(expected.length);
      for (let i = 0; i < actual.length; i++) {
        const distance = Math.abs(actual[i]! - expected[i]!);
        if (!(distance <= largest)) largest = distance;
      }
    }
    await found.close();
    await own.close();
    return largest;
  }

  it('gives the logits that our own build gives on the CPU', async () => {
    const folder = await createTinyModelFolder('f32', { modelType: 'qwen3' }, { variant: 'slots' });
    const exported = await exportModel('plain', { precision: 'f32' }, 'paged');
    expect(await compare(await open(exported, 'webgpu'), await open(folder.dir, 'cpu'))).toBeLessThan(
      ROUNDING,
    );
    await folder.remove();
  });

  it('gives in float16 what it gives in float32', async () => {
    const changes = { precision: 'q4', halves: 'logits too', positionIds: true } as const;
    const half = await exportModel('half', changes, 'paged');
    const single = await exportModel('single', { precision: 'q4' }, 'slots');
    expect(await readManifest(half)).toMatchObject({ kvType: 'float16', logitsType: 'float16' });
    const difference = await compare(await open(half, 'webgpu'), await open(single, 'webgpu'));
    expect(difference).toBeLessThan(HALF_ROUNDING);
  });

  it('runs with all its operators there, also where the device is a wish', async () => {
    const modelDir = await exportModel('wish', { precision: 'q4', halves: 'activations' }, 'paged');
    const core = await loadCore({
      modelDir,
      device: 'webgpu',
      isDeviceOptional: true,
      threadCount: 1,
      contextLength: 64,
      maxSequences: 2,
    });
    expect(core.facts).toMatchObject({ runner: 'slots', device: 'webgpu' });
    expect(core.facts).not.toHaveProperty('deviceNote');
    await core.close();
  });

  it('in float16 is refused on the CPU, with the graphs to take', async () => {
    const modelDir = await exportModel('activations', { precision: 'q4', halves: 'activations' }, 'paged');
    const load = loadCore({
      modelDir,
      device: 'cpu',
      threadCount: 1,
      contextLength: 64,
      maxSequences: 2,
    });
    await expect(load).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringMatching(/float16 .*needs a GPU .*model_q4\.onnx/),
    });
  });
});
