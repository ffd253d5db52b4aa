// Models that PagedAttention cannot compute, on a device with GroupQueryAttention: logits are near those of transformers, however the
// tokens are divided into calls, and whatever other slots hold.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDeviceSlotsRunner, readManifest, type SlotModelRunner } from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { selectBackend } from '@ortler/onnxruntime';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDecoderConfig } from '../../packages/model-builder/src/architectures/read-decoder-config.ts';
import { variantFault } from '../../packages/model-builder/src/architectures/variant-fault.ts';
import {
  DECODER_GOLDENS,
  differenceFromGolden,
  logitDeviation,
  writeGoldenCheckpoint,
} from '../../packages/model-builder/test/decoder-golden.ts';
import { familyBound } from '../support/family-bounds.ts';
import { row } from './runner-rows.ts';

/** Largest difference of a logit from transformers that float16 activations make, in deviations of the logits. */
const FLOAT16_BOUND = 0.06;
/** The same roundings, but sums in another order. */
const ORDER_BOUND = 0.04;
/** Gemma 4 does not scale down its scores, so that roundings of queries and keys weigh more. */
const SHARPNESS = 2;
/** Builds for GPUs have 4 bits in all layers, where those that the bounds are of take 5 and 6 where 4 lose too much. */
const Q4_FACTOR = 1.5;

const reason = await whyNoWebGpu();

const CASES = DECODER_GOLDENS.flatMap(({ family, cases, logitStride }) =>
  cases.map(golden => ({
    family,
    label: `${family}, ${golden.name}`,
    golden,
    logitStride,
    config: parseDecoderConfig('config.json', golden.config),
  })),
).filter(({ config }) => variantFault('paged', config) !== undefined);
const REFUSED = CASES.filter(({ config }) => variantFault('device-slots', config) !== undefined);
const SUPPORTED = CASES.filter(({ config }) => variantFault('device-slots', config) === undefined);
const FAMILIES = [...new Set(SUPPORTED.map(({ family }) => family))];
/** All cases in float16, and of each family the first one in 8 or in 4 bits, in turns. */
const TAKEN = SUPPORTED.flatMap((testCase, i) => {
  const isFirst = SUPPORTED[i - 1]?.family !== testCase.family;
  const quantised = FAMILIES.indexOf(testCase.family) % 2 === 0 ? 'q8' : 'q4';
  const precisions = isFirst ? (['f16', quantised] as const) : (['f16'] as const);
  return precisions.map(precision => ({ ...testCase, precision }));
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-device-slots-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each(REFUSED)('$label is refused by its key', async ({ label, golden, config }) => {
  const sourceDir = join(folder, label, 'source');
  await writeGoldenCheckpoint(sourceDir, golden);
  const build = buildModel({
    sourceDir,
    outputDir: join(folder, label, 'built'),
    precision: 'f16',
    variant: 'device-slots',
  });
  const { key } = variantFault('device-slots', config)!;
  await expect(build).rejects.toMatchObject({ code: 'unsupported', key });
});

describe.skipIf(reason !== undefined)(`on a device, ${reason ?? 'here'}`, () => {
  it.each(TAKEN)('$label in $precision', async ({ family, label, golden, logitStride, precision }) => {
    const prompt = golden.prompts[0]!;
    const { tokens } = prompt;
    const deviation = logitDeviation(prompt);
    const sharpness = family.startsWith('gemma4') ? SHARPNESS : 1;
    const bounds = {
      f16: FLOAT16_BOUND * sharpness,
      q8: familyBound(family, 'q8'),
      q4: familyBound(family, 'q4') * Q4_FACTOR,
    };
    const orderBound = ORDER_BOUND * sharpness;
    const sourceDir = join(folder, label, 'source');
    await writeGoldenCheckpoint(sourceDir, golden);
    const outputDir = join(folder, label, precision);
    await buildModel({ sourceDir, outputDir, precision, variant: 'device-slots', contextLength: 64 });
    const manifest = await readManifest(outputDir);
    const { backend } = await selectBackend('native');
    const runner = await createDeviceSlotsRunner(backend, outputDir, manifest, {
      slotCount: 3,
      contextLength: 64,
      threadCount: 1,
      spin: false,
      device: 'webgpu',
    });
    const whole = await logitsOf(runner, 0, [tokens]);
    expect(differenceFromGolden(whole, prompt, logitStride) / deviation).toBeLessThan(bounds[precision]);

    const parts = [tokens.slice(0, 1), tokens.slice(1, 18), tokens.slice(18, 20), tokens.slice(20)];
    expect(largest(await logitsOf(runner, 1, parts), whole) / deviation, 'in chunks').toBeLessThan(
      orderBound,
    );

    // A prefix from the cache, beside others.
    runner.copySlot(1, 2, tokens.length);
    const beside = [
      row(0, tokens.length, [5]),
      row(2, 20, tokens.slice(20), tokens.length - 20),
      row(1, 7, [9]),
    ];
    const together = rowsOf((await runner.run(beside)).slice(), manifest.vocabSize).slice(1, -1);
    expect(largest(together, whole.slice(20)) / deviation, 'a prefix').toBeLessThan(orderBound);
    await runner.close();
  });
});

/** Logits of every position of a sequence that is computed in these calls. */
async function logitsOf(
  runner: SlotModelRunner,
  slot: number,
  calls: readonly (readonly number[])[],
): Promise<Float32Array[]> {
  const rows: Float32Array[] = [];
  for (const tokenIds of calls) {
    const logits = (await runner.run([row(slot, rows.length, tokenIds, tokenIds.length)])).slice();
    rows.push(...rowsOf(logits, runner.facts.vocabSize));
  }
  return rows;
}

function rowsOf(logits: Float32Array, vocabSize: number): Float32Array[] {
  return Array.from({ length: logits.length / vocabSize }, (_, i) =>
    logits.subarray(i * vocabSize, (i + 1) * vocabSize),
  );
}

function largest(actual: readonly Float32Array[], expected: readonly Float32Array[]): number {
  expect(actual.length).toBe(expected.length);
  return Math.max(
    ...expected.map((values, i) => Math.max(...values.map((value, j) => Math.abs(actual[i]![j]! - value)))),
  );
}
