// The slots runner on real graphs: those of the kernels, and those of ONNX Runtime's own operators through both bindings.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VARIANT_KV_TYPES, VARIANT_PRECISIONS } from '@ortler/engine/graph-contract';
import {
  createSlotsRunner,
  loadCore,
  type RunnerRow,
  readManifest,
  type SlotModelRunner,
} from '@ortler/engine/testing';
import { type OrtBackend, selectBackend } from '@ortler/onnxruntime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { row, tokens } from './runner-rows.ts';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

const SLOT_COUNT = 4;
const CONTEXT_LENGTH = 64;
/**
 * ONNX Runtime's own operators may add in another order for another number of rows. Logits of the tiny model are of the order
 * of 1.
 */
const ROUNDING = 2e-5;

/** `file` has the formats of the others. */
const PRECISIONS = VARIANT_PRECISIONS.kernels.filter(precision => precision !== 'file');

const KERNEL_MODELS = PRECISIONS.flatMap(precision =>
  VARIANT_KV_TYPES.kernels.map(kvType => {
    const modelType = precision === 'q8' ? ('qwen3' as const) : ('llama' as const);
    const names = ['native'] as const;
    return { variant: 'kernels' as const, precision, modelType, kvType, names, equality: 'bit for bit' };
  }),
);
const SLOT_MODELS = (
  [
    { precision: 'f32', modelType: 'llama' },
    { precision: 'q8', modelType: 'llama' },
    { precision: 'q4', modelType: 'llama' },
    { precision: 'f32', modelType: 'qwen3' },
  ] as const
).map(model => ({
  ...model,
  variant: 'slots' as const,
  kvType: 'float32' as const,
  names: ['native', 'node'] as const,
  equality: 'but for the last bits',
}));

interface RunnerOptions {
  readonly prepare?: (backend: OrtBackend) => OrtBackend;
  readonly threadCount?: number;
}

async function createRunner(
  dir: string,
  backendName: 'native' | 'node',
  { prepare = backend => backend, threadCount = 1 }: RunnerOptions = {},
): Promise<SlotModelRunner> {
  const backend = prepare((await selectBackend(backendName)).backend);
  return createSlotsRunner(backend, dir, await readManifest(dir), {
    slotCount: SLOT_COUNT,
    contextLength: CONTEXT_LENGTH,
    threadCount,
    spin: false,
  });
}

/**
 * Fills each array of the cache with NaN the moment it is first used, in int8 its scales: whatever is read and was not written
 * shows.
 */
function poisonCache(backend: OrtBackend): OrtBackend {
  const poisoned = new Set<unknown>();
  return {
    name: backend.name,
    version: backend.version,
    kernels: backend.kernels,
    createSession: (model, options) => backend.createSession(model, options),
    createTensor: (type, shape, data) => {
      if (shape.length === 4 && !poisoned.has(data.buffer)) {
        poisoned.add(data.buffer);
        if (data instanceof Float32Array) new Float32Array(data.buffer).fill(Number.NaN);
        // Not a number in float16, and as four codes in float32.
        if (data instanceof Uint16Array) new Uint16Array(data.buffer).fill(0x7fff);
        if (data instanceof Int8Array) new Int8Array(data.buffer).fill(-1);
      }
      return backend.createTensor(type, shape, data);
    },
    allocateZeros: byteLength => backend.allocateZeros(byteLength),
    copy: (source, target) => backend.copy(source, target),
    describeDevice: device => backend.describeDevice(device),
  };
}

async function logitsOf(runner: SlotModelRunner, ...rows: RunnerRow[]): Promise<Float32Array> {
  return (await runner.run(rows)).slice();
}

/** Logits after the last of `ids`, computed in one call in an otherwise unused slot. */
function whole(runner: SlotModelRunner, ids: readonly number[]): Promise<Float32Array> {
  return logitsOf(runner, row(SLOT_COUNT - 1, 0, ids));
}

function expectClose(actual: Float32Array, expected: Float32Array): void {
  expect(actual.length).toBe(expected.length);
  let difference = 0;
  for (let i = 0; i < actual.length; i++)
    difference = Math.max(difference, Math.abs(actual[i]! - expected[i]!));
  expect(difference).toBeLessThan(ROUNDING);
}

/** Compares with Object.is, so that also zeros of both signs differ. */
function expectSameBits(actual: Float32Array, expected: Float32Array): void {
  expect(actual.length).toBe(expected.length);
  const place = expected.findIndex((logit, i) => !Object.is(logit, actual[i]));
  expect({ place, logit: actual[place] }).toEqual({ place: -1, logit: undefined });
  expect(actual.every(Number.isFinite)).toBe(true);
}

/** Chunks, decodes and starts of several sequences in the same calls. */
const SCHEDULE: readonly RunnerRow[][] = [
  [row(0, 0, tokens(9, 1))],
  [row(0, 9, tokens(1, 2)), row(1, 0, tokens(5, 3), 0)],
  [row(0, 10, tokens(1, 4)), row(1, 5, tokens(4, 5)), row(2, 0, tokens(1, 6))],
  [row(0, 11, tokens(1, 7)), row(1, 9, tokens(1, 8)), row(2, 1, tokens(1, 9))],
  [row(0, 12, tokens(1, 7)), row(1, 10, tokens(30, 8)), row(2, 2, tokens(17, 9))],
];

describe.each([...KERNEL_MODELS, ...SLOT_MODELS])(
  'the slots runner of $variant on a $precision $modelType with a $kvType cache, $equality',
  ({ variant, precision, modelType, kvType, names }) => {
    let folder: TinyModelFolder;
    const runners = new Map<string, SlotModelRunner>();
    const expectSame = variant === 'kernels' ? expectSameBits : expectClose;

    beforeAll(async () => {
      folder = await createTinyModelFolder(precision, { modelType }, { variant, kvType });
      for (const name of names) runners.set(name, await createRunner(folder.dir, name));
    });

    afterAll(async () => {
      for (const runner of runners.values()) await runner.close();
      await folder.remove();
    });

    it.each(names)('reads nothing of a slot that its sequence did not write, through %s', async name => {
      const poisoned = await createRunner(folder.dir, name, { prepare: poisonCache });
      const clean = runners.get(name)!;
      const [long, short] = [tokens(20, 1), tokens(3, 2)];
      for (const rows of [
        [row(0, 0, long)],
        [row(1, 0, short)],
        [row(0, 20, [7]), row(1, 3, [8])],
        [row(0, 21, [9]), row(1, 4, [5]), row(2, 0, long, 0)],
        [row(0, 22, [4]), row(1, 5, [3]), row(2, 20, short)],
      ]) {
        const logits = await logitsOf(poisoned, ...rows);
        expect(logits.every(Number.isFinite)).toBe(true);
        expectSame(logits, await logitsOf(clean, ...rows));
      }
      await poisoned.close();
    });

    if (variant === 'kernels')
      it.each([2, 3])('computes with %d threads as with one', async threadCount => {
        const threaded = await createRunner(folder.dir, 'native', { threadCount });
        for (const rows of SCHEDULE)
          expectSame(await logitsOf(threaded, ...rows), await logitsOf(runners.get('native')!, ...rows));
        await threaded.close();
      });
    else
      it('gives bit for bit the same logits through both bindings', async () => {
        for (const rows of SCHEDULE) {
          const [native, node] = await Promise.all(
            names.map(async name => (await runners.get(name)!.run(rows)).slice()),
          );
          expect(native).toEqual(node);
          expect(native!.some(logit => logit !== 0)).toBe(true);
        }
      });

    describe.each(names)('through the %s binding', name => {
      it('computes a prompt in chunks as it computes it whole', async () => {
        const runner = runners.get(name)!;
        const prompt = tokens(23, 11);
        await runner.run([row(1, 0, prompt.slice(0, 10), 0)]);
        await runner.run([row(1, 10, prompt.slice(10, 20), 0)]);
        const chunked = await logitsOf(runner, row(1, 20, prompt.slice(20)));
        expectSame(chunked, await whole(runner, prompt));
      });

      it('decodes sequences of different lengths together as it decodes each alone', async () => {
        const runner = runners.get(name)!;
        const prompts = [tokens(17, 21), tokens(1, 22), tokens(30, 23)];
        await runner.run(prompts.map((prompt, slot) => row(slot, 0, prompt)));
        const next = [5, 6, 7];
        const { vocabSize } = runner.facts;
        const together = await logitsOf(
          runner,
          ...prompts.map((prompt, slot) => row(slot, prompt.length, [next[slot]!])),
        );
        for (const [slot, prompt] of prompts.entries()) {
          const alone = await whole(runner, [...prompt, next[slot]!]);
          expectSame(together.subarray(slot * vocabSize, (slot + 1) * vocabSize), alone);
        }
      });

      it('decodes one sequence in any slot, and after it computes rows of others', async () => {
        const runner = runners.get(name)!;
        const { vocabSize } = runner.facts;
        const [prompt, other] = [tokens(19, 24), tokens(9, 25)];
        await runner.run([row(2, 0, prompt)]);
        const rows = [row(2, prompt.length, [5]), row(3, 0, [6]), row(0, 0, other)];
        const together = await logitsOf(runner, ...rows);
        for (const [index, ids] of [[...prompt, 5], [6], other].entries())
          expectSame(together.subarray(index * vocabSize, (index + 1) * vocabSize), await whole(runner, ids));
      });

      it('starts one-token prompts in a batch as it starts them alone', async () => {
        const runner = runners.get(name)!;
        const { vocabSize } = runner.facts;
        const together = await logitsOf(runner, row(0, 0, [3]), row(1, 0, [4]));
        for (const [slot, token] of [3, 4].entries()) {
          const alone = await whole(runner, [token]);
          expectSame(together.subarray(slot * vocabSize, (slot + 1) * vocabSize), alone);
        }
      });

      it('goes on from a copied slot as from the original', async () => {
        const runner = runners.get(name)!;
        const prompt = tokens(12, 31);
        await runner.run([row(2, 0, prompt)]);
        runner.copySlot(2, 0, 8);
        const continued = await logitsOf(runner, row(0, 8, [9]));
        expectSame(continued, await whole(runner, [...prompt.slice(0, 8), 9]));
      });

      it('gives the logits of every asked position, as the prompt up to there gives them at its end', async () => {
        const runner = runners.get(name)!;
        const { vocabSize } = runner.facts;
        const prompt = tokens(9, 61);
        await runner.run([row(1, 0, prompt.slice(0, 3), 0)]);
        const rows = await logitsOf(runner, row(0, 0, [4]), row(1, 3, prompt.slice(3), 4), row(2, 0, prompt));
        expect(rows.length).toBe(6 * vocabSize);
        for (let i = 0; i < 4; i++)
          expectSame(
            rows.subarray((1 + i) * vocabSize, (2 + i) * vocabSize),
            await whole(runner, prompt.slice(0, 6 + i)),
          );
      });

      it('goes on from exchanged slots as from the originals', async () => {
        const runner = runners.get(name)!;
        const { vocabSize } = runner.facts;
        const prompts = [tokens(12, 71), tokens(20, 72)];
        await runner.run([row(0, 0, prompts[0]!), row(2, 0, prompts[1]!)]);
        runner.swapSlots(0, 2, 20);
        const rows = await logitsOf(runner, row(0, 20, [9]), row(2, 12, [9]));
        expectSame(rows.subarray(0, vocabSize), await whole(runner, [...prompts[1]!, 9]));
        expectSame(rows.subarray(vocabSize), await whole(runner, [...prompts[0]!, 9]));
      });

      it('computes a step again with the same logits', async () => {
        const runner = runners.get(name)!;
        await runner.run([row(0, 0, tokens(6, 41))]);
        const rows = [row(0, 6, [1]), row(1, 0, tokens(7, 42))];
        const first = await logitsOf(runner, ...rows);
        expect(await logitsOf(runner, ...rows)).toEqual(first);
      });

      it('returns rows with logits in order and leaves the others out', async () => {
        const runner = runners.get(name)!;
        const { vocabSize } = runner.facts;
        const prompts = [tokens(4, 51), tokens(5, 52), tokens(6, 53)];
        const all = await logitsOf(runner, ...prompts.map((prompt, slot) => row(slot, 0, prompt)));
        const some = await logitsOf(
          runner,
          ...prompts.map((prompt, slot) => row(slot, 0, prompt, slot === 1 ? 0 : 1)),
        );
        expect(some.length).toBe(2 * vocabSize);
        expect(some.subarray(0, vocabSize)).toEqual(all.subarray(0, vocabSize));
        expect(some.subarray(vocabSize)).toEqual(all.subarray(2 * vocabSize));
      });
    });
  },
);

describe('loading a model folder', () => {
  let folder: TinyModelFolder;

  beforeAll(async () => {
    folder = await createTinyModelFolder('f32');
  });

  afterAll(() => folder.remove());

  it('refuses a graph that does not fit its manifest, naming both', async () => {
    const file = join(folder.dir, 'ortler-model.json');
    const original = await readFile(file, 'utf8');
    for (const change of [
      { vocabSize: 300 },
      { headSize: 32 },
      { kvHeadCount: 1 },
      { kvType: 'int8' },
      { layerCount: 1 },
      { graphFile: 'none.onnx' },
    ]) {
      await writeFile(file, JSON.stringify({ ...JSON.parse(original), ...change }));
      await expect(loadTiny(folder.dir), JSON.stringify(change)).rejects.toMatchObject({
        code: 'model_invalid',
        message: expect.stringContaining(folder.dir),
      });
    }
    await writeFile(file, original);
    const core = await loadTiny(folder.dir);
    expect(core.facts).toMatchObject({ backend: 'native', runner: 'slots', device: 'cpu', vocabSize: 288 });
    expect(core.facts.backendNote).toBeUndefined();
    await core.close();
  });

  it('refuses a damaged graph, and weights that are too short, naming the folder', async () => {
    for (const name of ['model.onnx', 'model.onnx.data']) {
      const file = join(folder.dir, name);
      const original = await readFile(file);
      await writeFile(file, original.subarray(0, 1000));
      await expect(loadTiny(folder.dir), name).rejects.toMatchObject({
        code: 'model_invalid',
        message: expect.stringContaining(folder.dir),
      });
      await writeFile(file, original);
    }
  });

  it('runs a folder of an earlier build, which names a second graph, with its main graph', async () => {
    const file = join(folder.dir, 'ortler-model.json');
    const original = await readFile(file, 'utf8');
    await writeFile(file, JSON.stringify({ ...JSON.parse(original), wideGraphFile: 'wide.onnx' }));
    const core = await loadTiny(folder.dir);
    expect(core.facts).toMatchObject({ runner: 'slots', device: 'cpu' });
    await core.close();
    await writeFile(file, original);
  });
});

function loadTiny(modelDir: string) {
  return loadCore({
    modelDir,
    threadCount: 1,
    maxSequences: 2,
    tuning: { prefillChunkLength: 16, maxQueuedSequences: 4 },
  });
}
