// Where a call of a `slots` graph writes its logits: the beginning of an array that many calls share.

import type { OrtBackend, OrtTensor } from '@ortler/onnxruntime';

/** Float32 numbers, or the bits of float16 ones. */
export type LogitsMemory = Float32Array | Uint16Array;

/** A tensor of that shape over the first elements of `memory`. */
export function createLogits(backend: OrtBackend, shape: readonly number[], memory: LogitsMemory): OrtTensor {
  const length = shape.reduce((product, dim) => product * dim, 1);
  const type = memory instanceof Float32Array ? 'float32' : 'float16';
  return backend.createTensor(type, shape, memory.subarray(0, length));
}
