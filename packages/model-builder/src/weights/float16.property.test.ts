import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { roundUpToFloat16 } from './float16.ts';

const RUNS = { numRuns: runs({ daily: 1000, full: 10_000 }) };

/** Values up to this one count as 0. */
const COUNTS_AS_ZERO = 2 ** -78;

/** The float16 before a positive one. */
function before(value: number): number {
  const bits = new Uint16Array(Float16Array.of(value).buffer);
  return new Float16Array(Uint16Array.of(bits[0]! - 1).buffer)[0]!;
}

/** Of every magnitude, also beyond float16. */
const values = fc
  .tuple(fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -77, max: 17 }))
  .map(([fraction, exponent]) => fraction * 2 ** exponent);

/** A scale of 8-bit codes, from the bits of the largest magnitude of a block. */
const scales = fc
  .integer({ min: 0, max: 0x7f7fffff })
  .map(bits => new Float32Array(Uint32Array.of(bits).buffer)[0]! / 127)
  .filter(scale => scale > COUNTS_AS_ZERO);

describe('roundUpToFloat16', () => {
  it.each([
    ['values', values],
    ['scales of blocks', scales],
  ])('gives the least float16 that is not below: %s', (_, numbers) => {
    fc.assert(
      fc.property(numbers, value => {
        const rounded = roundUpToFloat16(value);
        expect(Math.f16round(rounded)).toBe(rounded);
        expect(rounded).toBeGreaterThanOrEqual(value);
        expect(before(rounded)).toBeLessThan(value);
      }),
      RUNS,
    );
  });

  it('gives 0 for values that are lost beside half a step', () => {
    const smallest = fc.double({ min: 0, max: COUNTS_AS_ZERO, noNaN: true });
    fc.assert(
      fc.property(smallest, value => {
        expect(roundUpToFloat16(value)).toBe(0);
      }),
      RUNS,
    );
  });
});
