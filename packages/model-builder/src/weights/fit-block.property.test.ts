import { BLOCK_INPUTS, codeOffset, type QuantisedFormat, WEIGHT_FORMATS } from '@ortler/kernels';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { createFittedBlock, type FittedBlock, fitBlock } from './fit-block.ts';

const FORMATS = Object.keys(WEIGHT_FORMATS).filter((name): name is QuantisedFormat => name !== 'f32');
const WITH_MINIMUM = FORMATS.filter(format => WEIGHT_FORMATS[format].hasMinimum);
const CENTRED = FORMATS.filter(format => !WEIGHT_FORMATS[format].hasMinimum);
const RUNS = { numRuns: runs({ daily: 300, full: 3000 }) };

/** A relative step of float16, and half of its smallest number. */
const STEP16 = 2 ** -10;
const LEAST16 = 2 ** -25;

const most = (format: QuantisedFormat) => 2 ** WEIGHT_FORMATS[format].bits - 1;

function fit(format: QuantisedFormat, values: Float32Array): FittedBlock {
  const fitted = createFittedBlock();
  fitBlock(format, values, 0, fitted);
  return fitted;
}

/** The description of the formats in `packages/kernels/c/weights.h`. */
function valuesOf(format: QuantisedFormat, { codes, scale, minimum }: FittedBlock): Float64Array {
  const { hasMinimum, bits } = WEIGHT_FORMATS[format];
  return Float64Array.from(codes, code =>
    hasMinimum ? scale * code + minimum : scale * (code - 2 ** (bits - 1)),
  );
}

function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let squares = 0;
  for (let i = 0; i < a.length; i++) squares += (a[i]! - b[i]!) ** 2;
  return Math.sqrt(squares);
}

/** Rounding between the smallest and the largest value, or up to the largest magnitude, with a scale in float64. */
function plainRounding(format: QuantisedFormat, values: Float32Array): Float64Array {
  const { hasMinimum, bits } = WEIGHT_FORMATS[format];
  const rounded = (scale: number, first: number) =>
    Float64Array.from(values, value => {
      if (scale === 0) return first;
      return Math.min(most(format), Math.max(0, Math.round((value - first) / scale))) * scale + first;
    });
  if (hasMinimum) {
    const [lowest, highest] = [Math.min(...values), Math.max(...values)];
    return rounded((highest - lowest) / most(format), lowest);
  }
  const extreme = values.reduce((far, value) => (Math.abs(value) > Math.abs(far) ? value : far), 0);
  const half = 2 ** (bits - 1);
  const scale = bits === 8 ? Math.abs(extreme) / 127 : -extreme / half;
  return rounded(scale, -half * scale);
}

/** From tiny to huge, on either side of zero or on both, with and without outliers. */
const blocks = fc
  .record({
    exponent: fc.integer({ min: -9, max: 3 }),
    centre: fc.constantFrom(0, 0, 0.5, -3),
    parts: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), {
      minLength: BLOCK_INPUTS,
      maxLength: BLOCK_INPUTS,
    }),
    outlier: fc.option(fc.integer({ min: -30, max: 30 })),
  })
  .map(({ exponent, centre, parts, outlier }) =>
    Float32Array.from(
      parts,
      (part, i) => 10 ** exponent * (centre + (i === 7 && outlier !== null ? outlier : part)),
    ),
  );

describe.each(FORMATS)('a block in %s', format => {
  it('is never further from its values than plain rounding, but for scales in float16', () => {
    fc.assert(
      fc.property(blocks, values => {
        const far = Math.max(...values.map(Math.abs));
        const room = Math.sqrt(BLOCK_INPUTS) * (2 * far * STEP16 + 2 * (most(format) + 1) * LEAST16);
        const plain = distance(plainRounding(format, values), values);
        expect(distance(valuesOf(format, fit(format, values)), values)).toBeLessThanOrEqual(plain + room);
      }),
      RUNS,
    );
  });

  it('has codes of its bits, and scale and minimum in float16', () => {
    fc.assert(
      fc.property(blocks, values => {
        const { codes, scale, minimum } = fit(format, values);
        expect(Math.max(...codes)).toBeLessThanOrEqual(most(format));
        expect([Math.f16round(scale), Math.f16round(minimum)]).toEqual([scale, minimum]);
        if (!WEIGHT_FORMATS[format].hasMinimum) expect(minimum).toBe(0);
      }),
      RUNS,
    );
  });

  it('of zeros is zeros, and takes nothing from the block before', () => {
    const fitted = createFittedBlock();
    fitBlock(
      format,
      Float32Array.from({ length: BLOCK_INPUTS }, (_, i) => i - 9),
      0,
      fitted,
    );
    fitBlock(format, new Float32Array(BLOCK_INPUTS), 0, fitted);
    expect(valuesOf(format, fitted).every(value => value === 0)).toBe(true);
  });

  it('reads the values from the given place on', () => {
    const values = Float32Array.from({ length: 3 * BLOCK_INPUTS }, (_, i) => Math.sin(i));
    const fitted = createFittedBlock();
    fitBlock(format, values, BLOCK_INPUTS, fitted);
    expect(fitted).toEqual(fit(format, values.slice(BLOCK_INPUTS, 2 * BLOCK_INPUTS)));
  });
});

const positiveScales = fc.integer({ min: 1, max: 2047 }).map(bits => bits * 2 ** -18);
const codesUpTo = (limit: number) =>
  fc.array(fc.nat({ max: limit }), { minLength: BLOCK_INPUTS, maxLength: BLOCK_INPUTS });

describe.each(WITH_MINIMUM)('values on a grid of %s', format => {
  // GGUF's Q4_1 and Q5_1 divide the range of a block, so the first and the last code occur.
  it('with scale and minimum in float16 come back exactly, where the first and the last code occur', () => {
    const minimums = fc.integer({ min: -2047, max: 2047 }).map(bits => bits * 2 ** -14);
    fc.assert(
      fc.property(positiveScales, minimums, codesUpTo(most(format)), (scale, minimum, codes) => {
        codes[3] = 0;
        codes[20] = most(format);
        const values = Float32Array.from(codes, code => code * scale + minimum);
        expect(Float32Array.from(valuesOf(format, fit(format, values)))).toEqual(values);
      }),
      RUNS,
    );
  });

  it('of one value are that value in float16', () => {
    const values = new Float32Array(BLOCK_INPUTS).fill(0.3);
    expect(valuesOf(format, fit(format, values)).every(value => value === Math.f16round(0.3))).toBe(true);
  });
});

describe.each(CENTRED)('values on a grid of %s', format => {
  const offset = codeOffset(format);
  // GGUF's Q4_0 and Q5_0 give the first code to the largest magnitude, and a negative scale where that is positive.
  it.each([1, -1])('with a scale in float16 come back exactly, where the sign of the scale is %d', sign => {
    fc.assert(
      fc.property(positiveScales, codesUpTo(2 * offset - 2), (scale, codes) => {
        const steps = codes.map(code => code - (offset - 1));
        // In 8 bits, as in Q8_0, the codes are symmetric.
        steps[5] = offset === 128 ? -127 : -offset;
        const values = Float32Array.from(steps, step => sign * scale * step);
        const fitted = fit(format, values);
        expect(Float32Array.from(valuesOf(format, fitted), value => value + 0)).toEqual(
          values.map(value => value + 0),
        );
        if (offset !== 128) expect(fitted.scale).toBe(sign * scale);
      }),
      RUNS,
    );
  });
});
