// Memory for logits in the process: how many rows one step of a model may have, and tensors over the beginning of an array that
// many calls share.

import type { OrtBackend, OrtTensor } from '@ortler/onnxruntime';

/**
 * Memory for logits of prompt positions and drafted tokens beyond one row per sequence. In the process, pages
 * that no such request used are never touched. Unit: bytes.
 */
const FURTHER_LOGITS_BYTES = 32 * 2 ** 20;

/** Maximum number of rows of a step: one for each sequence, and some more, at least one and at most a context of them. */
export function countLogits(sequenceCount: number, contextLength: number, vocabSize: number): number {
  const further = Math.max(1, Math.floor(FURTHER_LOGITS_BYTES / (4 * vocabSize)));
  return sequenceCount + Math.min(contextLength, further);
}

/** Float32 numbers, or the bits of float16 ones. */
export type LogitsMemory = Float32Array | Uint16Array;

/** A tensor of that shape over the first elements of `memory`. */
export function createLogits(backend: OrtBackend, shape: readonly number[], memory: LogitsMemory): OrtTensor {
  const length = shape.reduce((product, dim) => product * dim, 1);
  const type = memory instanceof Float32Array ? 'float32' : 'float16';
  return backend.createTensor(type, shape, memory.subarray(0, length));
}
