import { expect, it } from 'vitest';
import { float16ToFloat32 } from './float16-to-float32.ts';

it('gives every float16 number', () => {
  const bits = Uint16Array.from({ length: 2 ** 16 }, (_, index) => index);
  const found = new Float32Array(bits.length);
  float16ToFloat32(bits, found);
  const view = new DataView(bits.buffer);
  const isLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
  const wrong = [...bits].filter(index => !Object.is(found[index], view.getFloat16(2 * index, isLittle)));
  expect(wrong).toEqual([]);
});
