// Folders that onnxruntime-genai's model builder wrote, against what its own runtime computes
// (packages/model-builder/test/golden/genai).

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSlotsRunner, loadCore, readManifest, type SlotModelRunner } from '@ortler/engine/testing';
import { choosePrecision, ensureModel } from '@ortler/model-builder';
import { selectBackend } from '@ortler/onnxruntime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logitsDistance } from './logits-distance.ts';
import { row, tokens } from './runner-rows.ts';

const GOLDEN = join(import.meta.dirname, '../../packages/model-builder/test/golden/genai');
const OPTIONS = { slotCount: 4, contextLength: 96, threadCount: 1, spin: false } as const;

/** Goldens have seven digits. Seen: 5e-7. */
const GOLDEN_ROUNDING = 1e-5;
/** Kernels may add in another order for another number of rows. */
const ROUNDING = 2e-5;

interface Golden {
  readonly prompt: readonly number[];
  readonly models: Readonly<Record<string, GoldenModel>>;
}

interface GoldenModel {
  /** Greedy. */
  readonly tokens: readonly number[];
  /** After the prompt, after the first token, and before the last one. */
  readonly logits: readonly (readonly number[])[];
  /** Of float32 models: of all these positions, on the same weights. */
  readonly distanceToTransformers?: number;
}

const golden: Golden = JSON.parse(readFileSync(join(GOLDEN, 'goldens.json'), 'utf8'));

const MODELS = [
  { name: 'llama-f32', binding: 'native' },
  { name: 'llama-f32', binding: 'node' },
  { name: 'qwen3-int4', binding: 'native' },
  { name: 'qwen2-int8', binding: 'native' },
  { name: 'qwen2-window-whole', binding: 'native' },
] as const;

describe.each(MODELS)('$name of onnxruntime-genai through $binding', ({ name, binding }) => {
  const { prompt } = golden;
  const expected = golden.models[name]!;
  let root: string;
  let runner: SlotModelRunner;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ortler-genai-'));
    const sourceDir = join(GOLDEN, name);
    const precision = await choosePrecision('auto', sourceDir, 'kernels');
    const folder = await ensureModel({ sourceDir, cacheDir: root, precision });
    const { backend } = await selectBackend(binding);
    runner = await createSlotsRunner(backend, folder, await readManifest(folder), OPTIONS);
  });

  afterAll(async () => {
    await runner?.close();
    await rm(root, { recursive: true, force: true });
  });

  it('gives the logits and greedy tokens of its own runtime', async () => {
    const rows: Float32Array[] = [];
    const found: number[] = [];
    for (let step = 0; step < expected.tokens.length; step++) {
      const input = step === 0 ? row(0, 0, prompt) : row(0, prompt.length + step - 1, [found[step - 1]!]);
      const logits = (await runner.run([input])).slice();
      rows.push(logits);
      found.push(logits.indexOf(logits.reduce((most, value) => Math.max(most, value))));
    }
    expect(found).toEqual(expected.tokens);
    for (const [index, logits] of [rows[0]!, rows[1]!, rows.at(-1)!].entries())
      expect(logitsDistance(logits, expected.logits[index]!)).toBeLessThan(GOLDEN_ROUNDING);
  });

  it('gives the same in chunks, beside other rows and for several positions', async () => {
    const whole = (await runner.run([row(0, 0, prompt, 40)])).slice();
    const { vocabSize } = runner.facts;
    const rowOf = (position: number) => whole.subarray(position * vocabSize, (position + 1) * vocabSize);
    for (const chunk of [1, 7, 16]) {
      for (let start = 0; start < prompt.length; start += chunk) {
        const part = prompt.slice(start, start + chunk);
        const beside = row(
          2,
          start,
          tokens(part.length, 3).map(id => id % 256),
        );
        const together = await runner.run([row(1, start, part), beside]);
        const last = together.subarray(0, vocabSize);
        expect(logitsDistance(last, rowOf(start + part.length - 1))).toBeLessThan(ROUNDING);
      }
    }
  });

  it('goes on from a copied slot', async () => {
    await runner.run([row(0, 0, prompt)]);
    runner.copySlot(0, 3, 25);
    const alone = (await runner.run([row(0, 0, [...prompt.slice(0, 25), 9])])).slice();
    expect(logitsDistance(await runner.run([row(3, 25, [9])]), alone)).toBeLessThan(ROUNDING);
  });
});

describe('goldens of onnxruntime-genai', () => {
  it('are those of transformers in float32, with and without a sliding window', () => {
    for (const name of ['llama-f32', 'qwen2-window-whole'])
      expect(golden.models[name]!.distanceToTransformers).toBeLessThan(2e-5);
  });
});

describe('the core on a folder of onnxruntime-genai', () => {
  it('loads it', async () => {
    const root = await mkdtemp(join(tmpdir(), 'ortler-genai-'));
    const sourceDir = join(GOLDEN, 'qwen3-int4');
    const modelDir = await ensureModel({ sourceDir, cacheDir: root, precision: 'q4' });
    const core = await loadCore({
      modelDir,
      threadCount: 1,
      maxSequences: 2,
      tuning: { prefillChunkLength: 16, maxQueuedSequences: 4 },
    });
    expect(core.facts).toMatchObject({ runner: 'slots', device: 'cpu', vocabSize: 259, contextLength: 96 });
    expect(core.facts.deviceNote).toBeUndefined();
    await core.close();
    await rm(root, { recursive: true, force: true });
  });
});
