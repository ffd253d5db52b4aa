import { describe, expect, it } from 'vitest';
import { dequantiseRows } from '../../test/dequantise.ts';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { allocateQuantisedRows, type BlockFormat, quantiseRows4, quantiseRows8 } from './quantise.ts';

/** Sums of eight uniform numbers: close to the normal distribution that trained weights have. */
function normalLike(count: number): Float32Array {
  const sums = new Float32Array(count);
  const draw = new Float32Array(count);
  for (let i = 0; i < 8; i++) {
    fillSeeded(draw, { seed: i, name: 'normal', scale: 1 });
    for (let j = 0; j < count; j++) sums[j] = sums[j]! + draw[j]!;
  }
  return sums;
}

function relativeError(values: Float32Array, width: number, format: BlockFormat): number {
  const target = allocateQuantisedRows(values.length / width, width, format);
  (format.bits === 4 ? quantiseRows4 : quantiseRows8)(values, width, target);
  const result = dequantiseRows(target, width);
  let errors = 0;
  let squares = 0;
  for (const [i, value] of values.entries()) {
    errors += (value - result[i]!) ** 2;
    squares += value * value;
  }
  return Math.sqrt(errors / squares);
}

describe('quantisation of normally distributed weights', () => {
  const values = normalLike(64 * 512);

  it('keeps 8-bit weights within 0.6 % of their size', () => {
    expect(relativeError(values, 512, { bits: 8, blockSize: 32 })).toBeLessThan(0.006);
    expect(relativeError(values, 512, { bits: 8, blockSize: 64 })).toBeLessThan(0.006);
  });

  it.each([
    { blockSize: 32, bound: 0.08 },
    { blockSize: 64, bound: 0.09 },
    { blockSize: 32, isSymmetric: true, bound: 0.085 },
  ] as const)(
    'keeps 4-bit weights in blocks of $blockSize within $bound of their size (symmetric: $isSymmetric)',
    ({ bound, ...format }) => {
      expect(relativeError(values, 512, { bits: 4, ...format })).toBeLessThan(bound);
    },
  );
});

it('packs 4-bit codes and zero points with the first in the low half', () => {
  // One row of two blocks: 0 to 15 exactly representable, then the same below zero.
  const row = Float32Array.from({ length: 128 }, (_, i) => (i < 64 ? i % 16 : -(i % 16)));
  const target = allocateQuantisedRows(1, 128, { bits: 4, blockSize: 64 });
  quantiseRows4(row, 128, target);
  expect([...target.scales]).toEqual([1, 1]);
  expect([...target.zeroPoints]).toEqual([0xf0]);
  expect([...target.codes.subarray(0, 3)]).toEqual([0x10, 0x32, 0x54]);
  expect([...target.codes.subarray(32, 35)]).toEqual([0xef, 0xcd, 0xab]);
});

it('gives the largest magnitude of a symmetric block the code that is farthest from zero', () => {
  // Whole numbers from -7 to 8: with the scale -1 all of them have a code.
  const row = Float32Array.from({ length: 32 }, (_, i) => (i % 16) - 7);
  const target = allocateQuantisedRows(1, 32, { bits: 4, blockSize: 32, isSymmetric: true });
  quantiseRows4(row, 32, target);
  expect([...target.scales]).toEqual([-1]);
  expect(target.zeroPoints.length).toBe(0);
  expect([...target.codes.subarray(0, 8)]).toEqual([0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01]);
});

it('fills the padding of a last block with the code of zero', () => {
  const target = allocateQuantisedRows(1, 65, { bits: 8, blockSize: 64 });
  quantiseRows8(new Float32Array(65).fill(1), 65, target);
  expect(target.codes[64]).toBe(255);
  expect([...target.codes.subarray(65)]).toEqual(new Array(63).fill(128));
});
