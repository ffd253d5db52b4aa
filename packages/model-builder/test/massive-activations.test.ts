// Builds of a model with massive activations (microsoft/onnxruntime#29849): one scale for a row of activations in 8 bits loses every other
// channel, one for each block of 32 does not.

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { createMassiveCheckpoint, type MassiveCheckpoint } from '../src/testing/massive-activations.ts';
import { plainLogits } from './plain-decoder.ts';
import { relativeError, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const source = join(folder, 'source');
const prompt = Array.from({ length: 32 }, (_, i) => (i * 37 + 11) % 256);

/**
 * Bounds on the error of logits, root of mean squares relative to that of the logits, against doubles. Seen: 7.0e-7, 0.0072 and 0.044,
 * and 8.5e-7, 0.012 and 0.072. With one scale for a row of activations it is 0.58.
 */
const BOUNDS = {
  kernels: { f32: 2e-6, q8: 0.014, q4: 0.08 },
  slots: { f32: 2e-6, q8: 0.02, q4: 0.12 },
} as const;

let massive: MassiveCheckpoint;
/** In doubles. */
let expected: Float64Array[];
/** What products read: the inputs of a layer after the first one, and of the first down projection. */
const inputs: Float64Array[] = [];

beforeAll(async () => {
  massive = await createMassiveCheckpoint(source);
  expected = logitsWith(input => {
    inputs.push(input);
    return input;
  });
});

function logitsWith(productInput: (input: Float64Array<ArrayBuffer>) => Float64Array<ArrayBuffer>) {
  return plainLogits(massive.config, prompt, { matrices: massive.tensors, productInput });
}

/** Activations in 8 bits with one scale for `size` of them. */
function rounded(input: Float64Array, size: number): Float64Array<ArrayBuffer> {
  const result = Float64Array.from(input);
  for (let first = 0; first < input.length; first += size) {
    const block = result.subarray(first, first + size);
    const scale = block.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127;
    if (scale > 0) for (const [i, value] of block.entries()) block[i] = Math.round(value / scale) * scale;
  }
  return result;
}

const middle = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const outlier = (input: Float64Array) => {
  const sizes = [...input].map(Math.abs);
  return Math.max(...sizes) / middle(sizes);
};

describe('the checkpoint', () => {
  it('has activations of thousands, where the middle one of a product is hundreds of times smaller', () => {
    const largest = inputs.map(input => Math.max(...[...input].map(Math.abs)));
    expect(Math.max(...largest)).toBeGreaterThan(2_000);
    expect(Math.max(...largest)).toBeLessThan(10_000);
    const wide = inputs.filter(input => outlier(input) > 100);
    expect(wide.length).toBeGreaterThan(prompt.length * 4);
  });
});

describe.each(['kernels', 'slots'] as const)('as "%s"', variant => {
  it.each(['f32', 'q8', 'q4'] as const)('%s stays within its bound', async precision => {
    const outputDir = join(folder, `${variant}-${precision}`);
    await buildModel({ sourceDir: source, outputDir, precision, variant, kvType: 'float32' });
    const session = await SlotsSession.open(outputDir);
    const logits = await session.run([prompt], [0]);
    await session.close();
    const error = relativeError(logits, expected);
    expect(error).toBeLessThan(BOUNDS[variant][precision]);
  });
});

describe('activations in 8 bits, computed in doubles with the exact weights', () => {
  it('stay within all bounds with a scale for each block of 32', () => {
    const error = relativeError(
      logitsWith(input => rounded(input, 32)),
      expected,
    );
    expect(error).toBeLessThan(BOUNDS.kernels.q8);
  });

  it('are beyond all bounds with one scale for a row', () => {
    const error = relativeError(
      logitsWith(input => rounded(input, input.length)),
      expected,
    );
    expect(error).toBeGreaterThan(3 * BOUNDS.slots.q4);
  });
});
