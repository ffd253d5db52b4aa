// An int8 KV cache of WebGPU's provider: what it holds, how near the logits stay to those with a float16 cache, the memory it takes,
// and the models that have none.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  deviceCacheRow,
  type KvType,
  type ModelManifest,
  pastName,
  presentName,
  SLOTS_INPUT,
  SLOTS_OUTPUT,
} from '@ortler/engine/graph-contract';
import { createDeviceSlotsRunner, loadCore, readManifest } from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { type OrtValue, selectBackend } from '@ortler/onnxruntime';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDecoderConfig } from '../../packages/model-builder/src/architectures/read-decoder-config.ts';
import { cacheFault, variantFault } from '../../packages/model-builder/src/architectures/variant-fault.ts';
import {
  DECODER_GOLDENS,
  differenceFromGolden,
  logitDeviation,
  writeGoldenCheckpoint,
} from '../../packages/model-builder/test/decoder-golden.ts';
import { row } from './runner-rows.ts';

/**
 * Largest difference of a logit from transformers, in deviations of the logits: of codes with a step of 1/127 of the largest element, in
 * heads of 16 and 32. Seen: 0.19 (Nemotron), others below 0.08. With a cache of another sequence logits are off by 1 and more.
 */
const INT8_BOUND = 0.25;
/** Codes do not depend on the division into calls, all else as in `device-slots-families.gpu.test.ts`. */
const ORDER_BOUND = 0.06;

const reason = await whyNoWebGpu();

/** The first case of each family. */
const CASES = DECODER_GOLDENS.map(({ family, cases: [golden], logitStride }) => ({
  family,
  golden: golden!,
  logitStride,
  config: parseDecoderConfig('config.json', golden!.config),
})).filter(({ config }) => variantFault('device-slots', config) === undefined);
const TAKEN = CASES.filter(({ config }) => cacheFault('device-slots', 'int8', config) === undefined);
const REFUSED = CASES.filter(({ config }) => cacheFault('device-slots', 'int8', config) !== undefined);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-int8-device-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function build({ family, golden }: (typeof CASES)[number], kvType: KvType): Promise<string> {
  const root = await mkdtemp(join(folder, `${family}-`));
  const [sourceDir, outputDir] = [join(root, 'source'), join(root, kvType)];
  await writeGoldenCheckpoint(sourceDir, golden);
  await buildModel({ sourceDir, outputDir, precision: 'f16', variant: 'device-slots', kvType });
  return outputDir;
}

it.each(REFUSED)('$family, whose layers have windows, is refused by its key', async testCase => {
  await expect(build(testCase, 'int8')).rejects.toMatchObject({
    code: 'unsupported',
    key: 'sliding_window',
    message: expect.stringMatching(
      /layer \d+ has a window.*no int8 cache on WebGPU: not built as "device-slots"/,
    ),
  });
});

it('is refused on CUDA', async () => {
  const modelDir = await build(TAKEN.find(({ family }) => family === 'qwen3')!, 'int8');
  const options = { modelDir, threadCount: 1, contextLength: 64, maxSequences: 1 } as const;
  await expect(loadCore({ ...options, device: 'cuda' })).rejects.toThrow(
    /"cuda" cannot run .*int8 KV cache is one of the WebGPU provider; use "webgpu"/,
  );
  await expect(loadCore({ ...options, device: 'cpu' })).rejects.toThrow(/"cpu" cannot run .*"device-slots"/);
});

describe.skipIf(reason !== undefined)(`on a device, ${reason ?? 'here'}`, () => {
  it.each(TAKEN)('$family has logits near those of transformers', async testCase => {
    const { golden, logitStride } = testCase;
    const prompt = golden.prompts[0]!;
    const { tokens } = prompt;
    const deviation = logitDeviation(prompt);
    const modelDir = await build(testCase, 'int8');
    const { backend } = await selectBackend('native');
    const manifest = await readManifest(modelDir);
    const runner = await createDeviceSlotsRunner(backend, modelDir, manifest, {
      ...{ slotCount: 2, contextLength: 64, threadCount: 1, spin: false, device: 'webgpu' },
    });
    const logitsOf = async (slot: number, lengths: readonly number[]): Promise<Float32Array[]> => {
      const rows: Float32Array[] = [];
      for (const length of lengths) {
        const ids = tokens.slice(rows.length, rows.length + length);
        const logits = (await runner.run([row(slot, rows.length, ids, ids.length)])).slice();
        for (let i = 0; i < ids.length; i++)
          rows.push(logits.subarray(i * manifest.vocabSize, (i + 1) * manifest.vocabSize));
      }
      return rows;
    };
    const whole = await logitsOf(0, [tokens.length]);
    expect(differenceFromGolden(whole, prompt, logitStride) / deviation).toBeLessThan(INT8_BOUND);
    const decoded = await logitsOf(1, [9, ...Array<number>(8).fill(1), tokens.length - 17]);
    const apart = decoded.map((logits, i) => Math.max(...logits.map((x, j) => Math.abs(x - whole[i]![j]!))));
    expect(Math.max(...apart) / deviation, 'decoded').toBeLessThan(ORDER_BOUND);
    // A byte for each element and four for each row, of keys and values.
    const { headSize, kvHeadCount, layerCount } = manifest;
    expect(runner.facts.cacheBytes).toBe(2 * 64 * layerCount * 2 * kvHeadCount * (headSize + 4));
    await runner.close();
  });

  it('holds for each token and head the scale, and the codes that are nearest', async () => {
    const testCase = TAKEN.find(({ family }) => family === 'qwen3')!;
    const tokens = testCase.golden.prompts[0]!.tokens.slice(0, 12);
    const floats = await firstKeys(await build(testCase, 'float16'), tokens);
    const ints = await firstKeys(await build(testCase, 'int8'), tokens);
    const { headSize, kvHeadCount } = floats.manifest;
    const halves = new Float16Array(floats.bytes.buffer);
    for (let head = 0; head < kvHeadCount; head++)
      for (let token = 0; token < tokens.length; token++) {
        const at = head * CAPACITY + token;
        const expected = [...halves.subarray(at * headSize, (at + 1) * headSize)];
        const entry = ints.bytes.subarray(at * (headSize + 4), (at + 1) * (headSize + 4));
        const scale = new DataView(entry.buffer, entry.byteOffset).getFloat32(0, true);
        const largest = Math.max(...expected.map(Math.abs));
        expect(scale).toBeGreaterThan(0);
        expect(Math.abs(scale * 127 - largest)).toBeLessThan(0.002 * largest);
        // Bytes are codes plus 128.
        const codes = [...entry.subarray(4)].map(byte => byte - 128);
        // Half a step, and the float16 rounding of the key that is compared with.
        for (const [i, key] of expected.entries())
          expect(Math.abs(codes[i]! * scale - key)).toBeLessThan(0.51 * scale + 0.001 * largest);
      }
  });
});

const CAPACITY = 32;

/** The keys of the first layer after one call, as the device holds them. */
async function firstKeys(
  modelDir: string,
  tokens: readonly number[],
): Promise<{ readonly manifest: ModelManifest; readonly bytes: Uint8Array }> {
  const { backend } = await selectBackend('native');
  const manifest = await readManifest(modelDir);
  const { kvType, kvHeadCount, headSize, layerCount, vocabSize } = manifest;
  const session = await backend.createSession(join(modelDir, manifest.graphFile), {
    ...{ threadCount: 1, spin: false, device: 'webgpu', int8KvCache: kvType === 'int8' },
  });
  const { type, length } = deviceCacheRow({ kvType, headSize });
  const shape = [1, kvHeadCount, CAPACITY, length];
  const caches = Array.from({ length: layerCount }, (_, layer) => layer).flatMap(layer =>
    (['key', 'value'] as const).map(part => ({ layer, part, value: session.allocate(type, shape) })),
  );
  const count = tokens.length;
  const inputs = new Map<string, OrtValue>([
    [SLOTS_INPUT.inputIds, backend.createTensor('int64', [1, count], BigInt64Array.from(tokens, BigInt))],
    [SLOTS_INPUT.lastPositions, backend.createTensor('int32', [1], Int32Array.of(count - 1))],
    [SLOTS_INPUT.totalLength, backend.createTensor('int32', [], Int32Array.of(count))],
    [SLOTS_INPUT.logitRows, backend.createTensor('int64', [1], BigInt64Array.of(0n))],
    ...caches.map(({ layer, part, value }) => [pastName(layer, part), value] as const),
  ]);
  const logits = backend.createTensor('float32', [1, vocabSize], new Float32Array(vocabSize));
  const outputs = new Map<string, OrtValue>([
    [SLOTS_OUTPUT.logits, logits],
    ...caches.map(({ layer, part, value }) => [presentName(layer, part), value] as const),
  ]);
  const binding = session.bind(inputs, outputs);
  await binding.run();
  const data = new Uint16Array(kvHeadCount * CAPACITY * length);
  const copied = backend.createTensor(type, shape, data);
  await backend.copy(caches[0]!.value, copied);
  binding.dispose();
  for (const value of [...inputs.values(), logits, copied]) value.dispose();
  session.dispose();
  return { manifest, bytes: new Uint8Array(data.buffer) };
}
