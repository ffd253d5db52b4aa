// Where a call of a `slots` graph writes its logits: the beginning of an array that many calls share.

import type { OrtBackend, OrtTensor } from './ort/backend.ts';

/** A tensor of that shape over the first elements of `memory`. */
export function createLogits(backend: OrtBackend, shape: readonly number[], memory: Float32Array): OrtTensor {
  const length = shape.reduce((product, dim) => product * dim, 1);
  return backend.createTensor('float32', shape, memory.subarray(0, length));
}
