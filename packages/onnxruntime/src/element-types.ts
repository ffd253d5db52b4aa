// Element types of tensors: their numbers in the C API and the typed arrays that hold them. Both backends
// check what they are given here, so that a wrong array is refused before native code sees it.

import type { ElementArray, ElementType, OrtTensor, OrtValue } from './backend.ts';
import { assertInvariant } from './errors.ts';

type ArrayConstructor = {
  readonly name: string;
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): ElementArray;
};

/** `code`: ONNXTensorElementDataType of onnxruntime_c_api.h. */
export const ELEMENT_TYPES: Readonly<
  Record<ElementType, { readonly code: number; readonly array: ArrayConstructor }>
> = {
  float32: { code: 1, array: Float32Array },
  uint8: { code: 2, array: Uint8Array },
  int8: { code: 3, array: Int8Array },
  int32: { code: 6, array: Int32Array },
  int64: { code: 7, array: BigInt64Array },
  bool: { code: 9, array: Uint8Array },
  float16: { code: 10, array: Uint16Array },
  uint32: { code: 12, array: Uint32Array },
};

/** Throws: when the array has another kind or length than type and shape say. */
export function checkTensor(type: ElementType, shape: readonly number[], data: ElementArray): void {
  const { array } = ELEMENT_TYPES[type];
  assertInvariant(data instanceof array, `a ${type} tensor is held by a ${array.name}`);
  const elementCount = countElements(shape);
  assertInvariant(
    data.length === elementCount,
    `a tensor of shape [${shape.join(', ')}] has ${elementCount} elements, not ${data.length}`,
  );
}

/** Throws: when the shape is not one. */
export function countElements(shape: readonly number[]): number {
  assertInvariant(
    shape.every(dimension => Number.isSafeInteger(dimension) && dimension > 0),
    `dimensions are whole numbers above 0, not [${shape.join(', ')}]`,
  );
  return shape.reduce((product, dimension) => product * dimension, 1);
}

/** Throws: when they differ in type or shape. */
export function assertSameKind(source: OrtValue, target: OrtValue): void {
  const [from, to] = [source, target].map(({ type, shape }) => `${type} [${shape.join(', ')}]`);
  assertInvariant(from === to, `a tensor is copied to one of its kind, not ${from} to ${to}`);
}

/** Copies between arrays of the process. Mutates: `target.data`. Throws: when the tensors differ in type or shape. */
export function copyArray(source: OrtTensor, target: OrtTensor): void {
  assertSameKind(source, target);
  bytesOf(target.data).set(bytesOf(source.data));
}

export function bytesOf(array: ElementArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Memory that a value of this type and shape takes. Unit: bytes. */
export function byteLengthOf({
  type,
  shape,
}: {
  readonly type: ElementType;
  readonly shape: readonly number[];
}): number {
  return countElements(shape) * ELEMENT_TYPES[type].array.BYTES_PER_ELEMENT;
}
