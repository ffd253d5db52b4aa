// The two implementations of the loops against each other, bit for bit, and the weights against the exponential.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { allocateRows } from '../../row-memory/row-memory.ts';
import { PlainKernels } from './plain-kernels.ts';
import {
  BLOCK_LENGTH,
  BUCKET_COUNT,
  type Buckets,
  bucketOf,
  countBlocks,
  type RowKernels,
} from './row-kernels.ts';
import { exactWeightBits, FINEST_BITS, tokenWeight, weightScale } from './token-weight.ts';
import { WasmKernels } from './wasm-kernels.ts';

/** Logits of a model, ties, far values, and all that float32 can hold. */
const logit = fc.oneof(
  { weight: 6, arbitrary: fc.float({ min: -40, max: 40, noNaN: true }) },
  { weight: 2, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(-Infinity, -0, -(2 ** 127), 2 ** 127, 2 ** -149) },
  { weight: 1, arbitrary: fc.float({ noNaN: true, noDefaultInfinity: true }) },
);
const rows = fc
  .array(logit, { minLength: 1, maxLength: 4 * BLOCK_LENGTH + 3, size: 'max' })
  .map(values => Float32Array.from(values));
const temperatures = fc.oneof(
  fc.constantFrom(0.01, 0.3, 1, 2, 1e-40, 1e40),
  fc.double({ min: 0.01, max: 2, noNaN: true }),
);
/** No limit, and limits amid the logits. */
const limits = fc.oneof(fc.constantFrom(-Infinity, 0, 1), fc.float({ min: -40, max: 40, noNaN: true }));

function fill<Kernels extends RowKernels>(kernels: Kernels, row: Float32Array): Kernels {
  kernels.load(row);
  return kernels;
}

/** Kernels of a whole number of blocks that read the row where it lies, between rows that they must not read. */
function openInPlace(row: Float32Array): WasmKernels {
  const length = countBlocks(row.length) * BLOCK_LENGTH;
  const rows = allocateRows(3 * length).fill(Number.NaN);
  const inPlace = rows.subarray(length, 2 * length).fill(-Infinity);
  inPlace.set(row);
  const kernels = new WasmKernels(length);
  kernels.open(inPlace);
  expect(kernels.row).toBe(inPlace);
  return kernels;
}

/** Ways to give WebAssembly a row. */
const opened = fc.constantFrom(openInPlace, (row: Float32Array) => fill(new WasmKernels(row.length), row));

describe('row kernels', () => {
  it('give the same bits in WebAssembly and in plain JavaScript', () => {
    fc.assert(
      fc.property(
        opened,
        rows,
        temperatures,
        fc.boolean(),
        limits,
        (open, row, temperature, isFinest, limit) => {
          const wasm = open(row);
          const plain = fill(new PlainKernels(row.length), row);
          const largest = plain.scan();
          expect(wasm.scan() === largest).toBe(true);
          expect(largest === row.reduce((a, b) => Math.max(a, b))).toBe(true);
          // Zeros may differ in their sign, which nothing depends on.
          expect(wasm.blockMaxima.every((value, block) => value === plain.blockMaxima[block])).toBe(true);
          fc.pre(Number.isFinite(largest));
          const bits = isFinest ? FINEST_BITS : exactWeightBits(row.length);
          const scale = weightScale(largest, temperature, bits);
          expect(wasm.weigh(scale, limit)).toBe(plain.weigh(scale, limit));
          expect(wasm.blockWeightSums).toEqual(plain.blockWeightSums);
        },
      ),
      { numRuns: runs({ daily: 80, full: 400 }) },
    );
  });

  it('give the same bits by kept weights, also where logits were forbidden since', () => {
    const strides = fc.constantFrom(0.01, 1, 37, 1e30);
    const forbidden = fc.array(fc.nat(300), { maxLength: 5 });
    fc.assert(
      fc.property(
        opened,
        rows,
        temperatures,
        limits,
        limits,
        limits,
        strides,
        forbidden,
        (open, row, temperature, a, b, reaching, stride, ids) => {
          // A forbidden token reaches no finite limit.
          const [limit, higher] = [Math.min(a, b), Math.max(a, b, -1e38)];
          const wasm = open(row);
          const plain = fill(new PlainKernels(row.length), row);
          const largest = plain.scan();
          wasm.scan();
          fc.pre(Number.isFinite(largest));
          const scale = weightScale(largest, temperature, exactWeightBits(row.length));
          expect(wasm.weigh(scale, limit)).toBe(plain.weigh(scale, limit));
          for (const id of ids) if (id < row.length) wasm.row[id] = plain.row[id] = -Infinity;
          const left = plain.weighKept(higher);
          expect(wasm.weighKept(higher)).toBe(left);
          expect(wasm.blockWeightSums).toEqual(plain.blockWeightSums);
          expect(wasm.weightReaching(reaching)).toBe(plain.weightReaching(reaching));
          const buckets: Buckets = { largest, stride: Math.fround(stride), lowestLogit: higher };
          for (const tokens of ['all', 'sample'] as const) {
            plain.spread(buckets, tokens);
            wasm.spread(buckets, tokens);
            expect(wasm.bucketWeightSums).toEqual(plain.bucketWeightSums);
          }
          expect(wasm.gatherBetween(limit, higher)).toEqual(plain.gatherBetween(limit, higher));
          expect(wasm.gatherBetween(higher, Infinity)).toEqual(plain.gatherBetween(higher, Infinity));
          plain.weigh(scale, higher);
          expect(plain.blockWeightSums.reduce((a, b) => a + b)).toBe(left);
        },
      ),
      { numRuns: runs({ daily: 80, full: 400 }) },
    );
  });

  it('put tokens into buckets in the order of their logits', () => {
    const near = fc.float({ min: -40, max: 40, noNaN: true });
    fc.assert(
      fc.property(near, near, fc.float({ min: 2 ** -20, max: 2 ** 20, noNaN: true }), (a, b, stride) => {
        const buckets = { largest: 40, stride, lowestLogit: -40 };
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(bucketOf(low, buckets)).toBeGreaterThanOrEqual(bucketOf(high, buckets));
        expect(bucketOf(40, buckets)).toBe(0);
        expect(bucketOf(-Infinity, buckets)).toBe(BUCKET_COUNT - 1);
      }),
    );
  });

  it('find a NaN at every place and plus infinity as the largest', () => {
    for (const create of [PlainKernels, WasmKernels]) {
      for (let id = 0; id < 2 * BLOCK_LENGTH; id++) {
        const row = new Float32Array(2 * BLOCK_LENGTH).fill(1);
        row[id] = Number.NaN;
        expect(fill(new create(row.length), row).scan()).toBeNaN();
        row[id] = Infinity;
        expect(fill(new create(row.length), row).scan()).toBe(Infinity);
      }
    }
  });
});

describe('tokenWeight', () => {
  it('is the exponential of the score within the rounding of float32, and 2^bits for the best token', () => {
    const gap = fc.double({ min: 0, max: 20, noNaN: true });
    fc.assert(
      fc.property(fc.float({ min: -30, max: 30, noNaN: true }), gap, temperatures, (largest, below, t) => {
        fc.pre(t >= 0.01 && t <= 2);
        const scale = weightScale(largest, t, FINEST_BITS);
        expect(tokenWeight(largest, scale)).toBe(2 ** FINEST_BITS);
        const other = Math.fround(largest - below * t);
        const score = (other - largest) / t;
        const expected = Math.exp(score) * 2 ** FINEST_BITS;
        // The score itself is rounded three times before its power is taken.
        const tolerance = 2e-7 + Math.abs(score) * 3 * 2 ** -24;
        expect(Math.abs(tokenWeight(other, scale) / expected - 1)).toBeLessThan(tolerance);
      }),
      { numRuns: runs({ daily: 400, full: 2_000 }) },
    );
  });

  it('adds up to the same sum in any order, for a whole vocabulary', () => {
    const size = 151_936;
    const scale = weightScale(0, 1, exactWeightBits(size));
    const weights = Float64Array.from({ length: size }, (_, id) =>
      tokenWeight(-Math.fround((id * 7919) % 23) / 7, scale),
    );
    const add = (sum: number, weight: number): number => sum + weight;
    const total = weights.reduce(add);
    expect(Number.isSafeInteger(total)).toBe(true);
    expect(weights.toReversed().reduce(add)).toBe(total);
    expect(weights.toSorted().reduce(add)).toBe(total);
    expect(exactWeightBits(size)).toBe(35);
  });

  it('gives forbidden and hopeless tokens nothing', () => {
    const scale = weightScale(3, 1, exactWeightBits(1000));
    expect(tokenWeight(-Infinity, scale)).toBe(0);
    expect(tokenWeight(-40, scale)).toBe(0);
  });
});
