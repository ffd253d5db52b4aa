import { expect, it } from 'vitest';
import { widenHalves } from './widen-halves.ts';

it('gives every float16 number', () => {
  const bits = Uint16Array.from({ length: 2 ** 16 }, (_, index) => index);
  const found = new Float32Array(bits.length);
  widenHalves(bits, found);
  const view = new DataView(bits.buffer);
  const isLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
  const wrong = [...bits].filter(index => !Object.is(found[index], view.getFloat16(2 * index, isLittle)));
  expect(wrong).toEqual([]);
});
