import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dequantiseRows } from '../../test/dequantise.ts';
import { type FloatType, SMALLEST_NORMAL_16 } from './float16.ts';
import {
  allocateQuantisedRows,
  type BlockFormat,
  type BlockSize,
  quantiseRows4,
  quantiseRows8,
} from './quantise.ts';

const blockSize = fc.constantFrom<BlockSize>(32, 64);
const isSymmetric = fc.boolean();

/** Rows of weights of any size: ordinary ones, zeros, outliers and subnormal numbers. */
const rows = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 200 }))
  .chain(([rowCount, width]) =>
    fc.record({
      width: fc.constant(width),
      blockSize,
      isSymmetric,
      values: fc
        .array(
          fc.oneof(
            { weight: 6, arbitrary: fc.float({ min: -2, max: 2, noNaN: true }) },
            { weight: 1, arbitrary: fc.constant(0) },
            {
              weight: 1,
              arbitrary: fc.float({ noNaN: true, noDefaultInfinity: true, min: -(2 ** 100), max: 2 ** 100 }),
            },
          ),
          { minLength: rowCount * width, maxLength: rowCount * width },
        )
        .map(values => Float32Array.from(values)),
    }),
  );

/** Rows of weights as models have them, the smallest blocks included. */
const smallRows = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 100 }))
  .chain(([rowCount, width]) =>
    fc.record({
      width: fc.constant(width),
      blockSize,
      isSymmetric,
      values: fc
        .tuple(
          fc.constantFrom(2, 2 ** -6, 2 ** -12),
          fc.array(fc.float({ min: -1, max: 1, noNaN: true }), {
            minLength: rowCount * width,
            maxLength: rowCount * width,
          }),
        )
        .map(([size, values]) => Float32Array.from(values, value => value * size)),
    }),
  );

function roundTrip(
  values: Float32Array,
  width: number,
  format: BlockFormat,
  scaleType: FloatType = 'float32',
): Float32Array {
  const target = allocateQuantisedRows(values.length / width, width, format);
  // Contents of reused buffers must have no effect.
  for (const array of [target.codes, target.zeroPoints, target.scales]) array.fill(0x5a);
  (format.bits === 4 ? quantiseRows4 : quantiseRows8)(values, width, target, scaleType);
  if (scaleType === 'float16') for (const scale of target.scales) expectFloat16Scale(scale);
  return dequantiseRows(target, width);
}

function expectFloat16Scale(scale: number): void {
  expect(Math.f16round(scale)).toBe(scale);
  if (scale !== 0) expect(Math.abs(scale)).toBeGreaterThanOrEqual(SMALLEST_NORMAL_16);
}

/** Calls `check` with each block of values and its dequantised values. */
function forEachBlock(
  values: Float32Array,
  quantised: Float32Array,
  { width, blockSize }: { readonly width: number; readonly blockSize: BlockSize },
  check: (block: Float32Array, result: Float32Array) => void,
): void {
  for (let row = 0; row < values.length; row += width) {
    for (let start = row; start < row + width; start += blockSize) {
      const end = Math.min(start + blockSize, row + width);
      check(values.subarray(start, end), quantised.subarray(start, end));
    }
  }
}

function squaredError(block: Float32Array, result: ArrayLike<number>): number {
  return block.reduce((sum, value, i) => sum + (value - result[i]!) ** 2, 0);
}

/** Rounds in steps of an eighth of the largest magnitude, with the sign that gives it a code. */
function plainSymmetricRounding(block: Float32Array): number[] {
  const extreme = block.reduce((found, value) => (Math.abs(value) > Math.abs(found) ? value : found), 0);
  if (extreme === 0) return [...block];
  const step = extreme / -8;
  return [...block].map(value => step * Math.max(-8, Math.min(7, Math.floor(value / step + 0.5))));
}

/** Rounds between the smallest and the largest value of the block, zero included: sixteen even steps. */
function plainRounding(block: Float32Array): number[] {
  const smallest = Math.min(0, ...block);
  const step = (Math.max(0, ...block) - smallest) / 15;
  if (step === 0) return [...block];
  const zeroPoint = Math.round(-smallest / step);
  return [...block].map(
    value => step * (Math.max(0, Math.min(15, Math.round(value / step) + zeroPoint)) - zeroPoint),
  );
}

describe('8-bit rows', () => {
  it('are off by at most half a step of each block', () => {
    fc.assert(
      fc.property(rows, ({ values, width, blockSize }) => {
        forEachBlock(
          values,
          roundTrip(values, width, { bits: 8, blockSize }),
          { width, blockSize },
          (block, result) => {
            const largest = Math.max(...block.map(Math.abs));
            // The scale is rounded to float32 and the product too, hence a little more than half a step.
            const bound = (largest / 254) * (1 + 1e-4) + 127 * 2 ** -126;
            for (const [i, value] of block.entries()) {
              expect(Math.abs(value - result[i]!)).toBeLessThanOrEqual(bound);
            }
          },
        );
      }),
    );
  });
});

describe('rows with float16 scales', () => {
  it('of 8 bits are off by at most half a step of each block', () => {
    fc.assert(
      fc.property(smallRows, ({ values, width, blockSize }) => {
        forEachBlock(
          values,
          roundTrip(values, width, { bits: 8, blockSize }, 'float16'),
          { width, blockSize },
          (block, result) => {
            const step = Math.max(
              (Math.max(...block.map(Math.abs)) / 127) * (1 + 2 ** -10),
              SMALLEST_NORMAL_16,
            );
            for (const [i, value] of block.entries()) {
              expect(Math.abs(value - result[i]!)).toBeLessThanOrEqual((step / 2) * (1 + 1e-4));
            }
          },
        );
      }),
    );
  });

  it('of 4 bits differ from those with float32 scales by the rounding of the scale', () => {
    fc.assert(
      fc.property(smallRows, ({ values, width, blockSize, isSymmetric }) => {
        const exact = roundTrip(values, width, { bits: 4, blockSize, isSymmetric });
        const rounded = roundTrip(values, width, { bits: 4, blockSize, isSymmetric }, 'float16');
        for (const [i, value] of exact.entries()) {
          const bound = Math.max(Math.abs(value) * 2 ** -11, SMALLEST_NORMAL_16);
          expect(Math.abs(value - rounded[i]!)).toBeLessThanOrEqual(bound * (1 + 1e-4));
        }
      }),
    );
  });
});

describe('4-bit rows', () => {
  it('never have a larger squared error than plain rounding in any block', () => {
    fc.assert(
      fc.property(rows, ({ values, width, blockSize, isSymmetric }) => {
        forEachBlock(
          values,
          roundTrip(values, width, { bits: 4, blockSize, isSymmetric }),
          { width, blockSize },
          (block, result) => {
            const energy = block.reduce((sum, value) => sum + value * value, 0);
            const plain = isSymmetric ? plainSymmetricRounding(block) : plainRounding(block);
            const bound = squaredError(block, plain) + 1e-5 * energy + 2 ** -250;
            expect(squaredError(block, result)).toBeLessThanOrEqual(bound);
          },
        );
      }),
    );
  });

  it('keep zeros exactly zero', () => {
    fc.assert(
      fc.property(rows, ({ values, width, blockSize, isSymmetric }) => {
        const result = roundTrip(values, width, { bits: 4, blockSize, isSymmetric });
        for (const [i, value] of values.entries()) if (value === 0) expect(Math.abs(result[i]!)).toBe(0);
      }),
    );
  });
});
