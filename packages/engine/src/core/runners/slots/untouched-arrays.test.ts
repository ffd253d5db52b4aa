import { describe, expect, it } from 'vitest';
import { allocateUntouched } from './untouched-arrays.ts';

const MIB = 2 ** 20;

/** Of the buffers of arrays of so many bytes. Unit: MiB. */
function bufferSizes(arrayBytes: readonly number[]): number[] {
  const arrays = allocateUntouched(Int8Array, arrayBytes);
  return [...new Set(arrays.map(({ buffer }) => buffer))].map(({ byteLength }) => byteLength / MIB);
}

describe('allocateUntouched', () => {
  it('makes no buffer that the C library might take from freed memory, and clear', () => {
    expect(bufferSizes([20, 20, 20, 20, 5].map(size => size * MIB))).toEqual([40, 45]);
    expect(bufferSizes([32, 40, 1].map(size => size * MIB))).toEqual([73]);
    expect(bufferSizes([33, 40].map(size => size * MIB))).toEqual([33, 40]);
  });

  it('needs one buffer for arrays that are small together', () => {
    expect(bufferSizes([MIB, 2 * MIB])).toEqual([3]);
    expect(allocateUntouched(Float32Array, [])).toEqual([]);
  });

  it('gives arrays of zeros that do not overlap', () => {
    const lengths = [3, 100, 17, 1];
    const arrays = allocateUntouched(Uint16Array, lengths);
    expect(arrays.map(({ length }) => length)).toEqual(lengths);
    for (const [index, array] of arrays.entries()) {
      expect(array.every(value => value === 0)).toBe(true);
      array.fill(index + 1);
    }
    for (const [index, array] of arrays.entries())
      expect(array.every(value => value === index + 1)).toBe(true);
  });
});
