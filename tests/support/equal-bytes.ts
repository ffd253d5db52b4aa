// `toEqual` of typed arrays with equal bytes, at the speed of memory. Vitest compares element by element, at about 0.1 µs each, which was
// a sixth of the time of tests that compare results bit for bit. Arrays that differ are left to Vitest.

import { expect } from 'vitest';

type TypedArray = Exclude<NodeJS.ArrayBufferView, DataView>;

const bytesOf = ({ buffer, byteOffset, byteLength }: TypedArray) =>
  Buffer.from(buffer, byteOffset, byteLength);

const isTypedArray = (value: unknown): value is TypedArray =>
  ArrayBuffer.isView(value) && !(value instanceof DataView);

expect.addEqualityTesters([
  (left: unknown, right: unknown) => {
    if (!isTypedArray(left) || !isTypedArray(right)) return undefined;
    if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return undefined;
    return bytesOf(left).equals(bytesOf(right)) ? true : undefined;
  },
]);
