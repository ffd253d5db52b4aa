import { describe, expect, it } from 'vitest';
import { rawBytesOf, toFloat32InPlace } from './element-types.ts';

/** Converts every 16-bit pattern, placed as a reader does. */
function convertAll(type: 'F16' | 'BF16'): Float32Array {
  const target = new Float32Array(65_536);
  const raw = rawBytesOf(type, target);
  raw.set(new Uint8Array(Uint16Array.from({ length: 65_536 }, (_, i) => i).buffer));
  toFloat32InPlace(type, target);
  return target;
}

describe('conversion to float32', () => {
  it('is exact for every float16 value, subnormal ones included', () => {
    const expected = Float32Array.from(
      new Float16Array(Uint16Array.from({ length: 65_536 }, (_, i) => i).buffer),
    );
    expect(convertAll('F16')).toEqual(expected);
  });

  it('is exact for every bfloat16 value', () => {
    const bits = new Uint32Array(convertAll('BF16').buffer);
    expect(bits.every((value, i) => value === i * 65_536)).toBe(true);
  });

  it('leaves memory outside the array alone', () => {
    const memory = new Float32Array(6).fill(7);
    const target = memory.subarray(1, 4);
    rawBytesOf('BF16', target).fill(0);
    toFloat32InPlace('BF16', target);
    expect([...memory]).toEqual([7, 0, 0, 0, 7, 7]);
  });
});
