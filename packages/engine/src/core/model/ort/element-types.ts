// Element types of tensors: their numbers in the C API and the typed arrays that hold them. Both backends
// check what they are given here, so that a wrong array is refused before native code sees it.

import { assertInvariant } from '../../../errors.ts';
import type { ElementArray, ElementType } from './backend.ts';

type ArrayConstructor = { readonly name: string; new (length: number): ElementArray };

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
  assertInvariant(
    shape.every(dimension => Number.isSafeInteger(dimension) && dimension > 0),
    `dimensions are whole numbers above 0, not [${shape.join(', ')}]`,
  );
  const elementCount = shape.reduce((product, dimension) => product * dimension, 1);
  assertInvariant(
    data.length === elementCount,
    `a tensor of shape [${shape.join(', ')}] has ${elementCount} elements, not ${data.length}`,
  );
}
