import { describe, expect, it } from 'vitest';
import { exactFormat } from './integer-matrix.ts';

const matrix = {
  shape: [16, 128],
  groups: { kind: 'runs', count: 2, size: 64 },
  range: [-8, 7],
  hasFloat16Scales: true,
} as const;

describe('the format that holds every value of a matrix of integers', () => {
  it.each([
    [[-8, 7], 'q4'],
    [[-9, 6], 'q5'],
    [[-7, 8], 'q5'],
    [[-16, 15], 'q5'],
    [[-128, 127], 'q8'],
    [[-128, 128], undefined],
  ] as const)('is the smallest one for levels of %j', (range, format) => {
    expect(exactFormat({ ...matrix, range })).toBe(format);
  });

  it('needs scales in float16, and one scale for each block of 32', () => {
    expect(exactFormat({ ...matrix, hasFloat16Scales: false })).toBeUndefined();
    expect(exactFormat({ ...matrix, groups: { kind: 'runs', count: 8, size: 16 } })).toBeUndefined();
    expect(exactFormat({ ...matrix, groups: { kind: 'runs', count: 3, size: 48 } })).toBeUndefined();
    expect(exactFormat({ ...matrix, shape: [16, 100] })).toBeUndefined();
    const of = new Uint32Array(128);
    expect(exactFormat({ ...matrix, groups: { kind: 'ordered', count: 2, of } })).toBeUndefined();
    expect(exactFormat({ ...matrix, groups: { kind: 'runs', count: 1, size: 128 } })).toBe('q4');
  });
});
