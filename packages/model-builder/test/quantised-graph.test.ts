// q8 and q4 builds against decoders with the dequantised weights.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Precision } from '@ortler/engine/graph-contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { Checkpoint } from '../src/hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../src/hugging-face/decoder-config.ts';
import { DecoderWeights } from '../src/hugging-face/decoder-weights.ts';
import { chooseFormats } from '../src/kernels/choose-formats.ts';
import { recordKernelsGraph } from '../src/kernels/kernels-graph.ts';
import { createTinyCheckpoint, seededTensors } from '../src/testing/tiny-model.ts';
import { writeSafetensors } from '../src/testing/write-safetensors.ts';
import { QUANTISED_SHAPES, writeDequantised } from './dequantised-checkpoint.ts';
import { plainLogits } from './plain-decoder.ts';
import { largestDifference, logitsOf, relativeError, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { storedMatrices } from './unpack-tiles.ts';

const folder = temporaryFolder();
const prompt = Array.from({ length: 64 }, (_, i) => (i * 37 + 11) % 256);

/**
 * Bounds on the error of logits of the kernels, root of mean squares, against float64 with the stored weights. What is left is
 * the rounding of activations: to 16 bits per block in q8, to 8 bits in q4. Seen: 6.6e-7, 7.2e-5 and 0.020.
 */
const KERNEL_BOUNDS = { f32: 1.4e-6, q8: 1.5e-4, q4: 0.03 } as const;
/** How far a stored matrix may be from the checkpoint's, root of mean squares; its weights are uniformly distributed. */
const WEIGHT_BOUNDS = { f32: 0, q8: 0.006, q4: 0.08 } as const;

describe.each(
  QUANTISED_SHAPES.flatMap(shape => (['f32', 'q8', 'q4'] as const).map(precision => ({ shape, precision }))),
)('$shape.label in $precision with the kernels', ({ shape, precision }) => {
  const base = join(folder, `kernels ${shape.label} ${precision}`);
  const [source, built] = [join(base, 'source'), join(base, 'built')];
  let config: DecoderConfig;
  let stored: ReadonlyMap<string, Float64Array<ArrayBuffer>>;

  beforeAll(async () => {
    config = await createTinyCheckpoint(source, shape);
    await buildModel({
      sourceDir: source,
      outputDir: built,
      precision,
      variant: 'kernels',
      kvType: 'float32',
    });
    const checkpoint = await Checkpoint.open(source);
    const weights = new DecoderWeights(checkpoint, config);
    const formats = precision === 'q4' ? await chooseFormats(weights, config, undefined) : undefined;
    const parts = { config, weights, precision, kvType: 'float32' } as const;
    stored = await storedMatrices(recordKernelsGraph(parts, { formats }));
    await checkpoint.close();
  });

  it('stores every matrix of the checkpoint, as near as its format allows', () => {
    const matrices = seededTensors(config, 1).filter(tensor => tensor.shape.length === 2);
    expect([...stored.keys()].toSorted()).toEqual(matrices.map(({ name }) => name).toSorted());
    for (const { name, shape: dims, fill } of matrices) {
      const values = new Float32Array(dims[0]! * dims[1]!);
      fill(values, 0);
      expect(relativeError([stored.get(name)!], [values]), name).toBeLessThanOrEqual(
        WEIGHT_BOUNDS[precision],
      );
    }
  });

  it('has the logits of a plain decoder with the stored weights, but for the rounding of activations', async () => {
    const expected = plainLogits(config, prompt, { matrices: stored });
    expect(relativeError(await logitsOf(built, prompt), expected)).toBeLessThan(KERNEL_BOUNDS[precision]);
  });
});

/**
 * Bounds on the error of logits from quantising activations to 8 bits, where logits have a deviation of about 1.
 * One product is off by about 0.5 % (a step of 1/127 of a block's largest value, itself about two deviations);
 * two layers chain nine of them.
 */
const ROOT_MEAN_SQUARE_BOUND = 0.03;
const LARGEST_BOUND = 0.15;

describe.each(
  QUANTISED_SHAPES.flatMap(shape => (['q8', 'q4'] as const).map(precision => ({ shape, precision }))),
)("$shape.label in $precision with ONNX Runtime's own operators", ({ shape, precision }) => {
  const base = join(folder, `${shape.label} ${precision}`);
  let expected: Float32Array[];

  beforeAll(async () => {
    await createTinyCheckpoint(join(base, 'source'), shape);
    await build('source', 'built', precision);
    const format = { bits: precision === 'q4' ? 4 : 8, blockSize: 32 } as const;
    await writeDequantised(join(base, 'dequantised'), shape, format);
    await build('dequantised', 'reference', 'f32');
    expected = await logitsOf(join(base, 'reference'), prompt);
  });

  const build = (from: string, to: string, as: Precision) =>
    buildModel({
      sourceDir: join(base, from),
      outputDir: join(base, to),
      precision: as,
      variant: 'slots',
    });

  it('stores exactly the values that the quantiser chose', async () => {
    // With float32 activations nothing but the order of sums differs from the reference.
    await useFloatActivations(join(base, 'built'));
    const logits = await logitsOf(join(base, 'built'), prompt, 'float-activations.onnx');
    expect(differenceOf(logits, expected)).toBeLessThan(1e-4);
  });

  it('stays within the stated bounds of the reference with 8-bit activations', async () => {
    const logits = await logitsOf(join(base, 'built'), prompt);
    expect(differenceOf(logits, expected)).toBeLessThan(LARGEST_BOUND);
    const relative = relativeError(logits, expected);
    expect(relative).toBeLessThan(ROOT_MEAN_SQUARE_BOUND);
    // Makes sure that activations are quantised: no difference would mean the wrong graph.
    expect(relative).toBeGreaterThan(1e-4);
  });
});

it.each(['kernels', 'slots'] as const)(
  'computes with tokens whose embedding is all zeros, in %s',
  async variant => {
    const [source, built] = [join(folder, `${variant} zeros`), join(folder, `${variant} zeros built`)];
    const config = await createTinyCheckpoint(source, { modelType: 'llama' });
    const tensors = seededTensors(config, 1).map(tensor => {
      if (tensor.name !== 'model.embed_tokens.weight') return tensor;
      const fill = (piece: Float32Array, start: number) => {
        tensor.fill(piece, start);
        if (start === 0) piece.fill(0, 0, config.hiddenSize);
      };
      return { ...tensor, fill };
    });
    await writeSafetensors(join(source, 'model.safetensors'), 'F32', tensors);
    await buildModel({ sourceDir: source, outputDir: built, precision: 'q8', variant });
    const session = await SlotsSession.open(built);
    const [first, , last] = await session.run([[0, 5, 0]], [0]);
    await session.close();
    // Zeros stay zeros through all layers, and the scores of a hidden state of zeros are zeros.
    expect(first!.every(logit => logit === 0)).toBe(true);
    expect(last!.every(Number.isFinite)).toBe(true);
    expect(last!.some(logit => logit !== 0)).toBe(true);
  },
);

function differenceOf(a: Float32Array[], b: Float32Array[]): number {
  return Math.max(...a.map((row, i) => largestDifference(row, b[i]!)));
}

/** Writes a second graph beside the first whose MatMulNBits keep activations in float32 (accuracy level 1). */
async function useFloatActivations(built: string): Promise<void> {
  const model = await readFile(join(built, 'model.onnx'));
  // The name of the attribute, then field 3 (the integer) with its value.
  const attribute = Buffer.concat([Buffer.from('accuracy_level'), Buffer.from([0x18, 4])]);
  let count = 0;
  for (let at = model.indexOf(attribute); at >= 0; at = model.indexOf(attribute, at + 1)) {
    model[at + attribute.length - 1] = 1;
    count += 1;
  }
  expect(count).toBeGreaterThan(0);
  await writeFile(join(built, 'float-activations.onnx'), model);
}
