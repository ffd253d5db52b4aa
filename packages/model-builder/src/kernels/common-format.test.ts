import { WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import { describe, expect, it } from 'vitest';
import { commonFormat } from './common-format.ts';

describe('the common format', () => {
  it.each([
    ['q4', 'q4', 'q4'],
    ['q4', 'q5', 'q5'],
    ['q5', 'q8', 'q8'],
    ['q4-min', 'q5-min', 'q5-min'],
    // Nothing holds both but float32, which is not worth it: one of them is fitted.
    ['q4', 'q4-min', 'q8'],
    ['q8', 'q5-min', 'q8'],
    ['q4-min', 'f32', 'f32'],
  ] as const)('of %s and %s is %s', (a, b, expected) => {
    expect(commonFormat(a, b)).toBe(expected);
    expect(commonFormat(b, a)).toBe(expected);
  });

  it('of a format and itself is that format', () => {
    for (const format of Object.keys(WEIGHT_FORMATS) as WeightFormat[])
      expect(commonFormat(format, format)).toBe(format);
  });
});
