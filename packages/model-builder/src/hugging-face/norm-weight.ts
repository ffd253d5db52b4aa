// Weights of norms whose checkpoint stores them less one.

import type { CheckpointTensor } from './checkpoint-tensor.ts';

/** The tensor with `offset` added to each value. */
export function withOffset(tensor: CheckpointTensor, offset: number): CheckpointTensor {
  if (offset === 0) return tensor;
  return {
    name: tensor.name,
    shape: tensor.shape,
    async readFloats(from, target) {
      await tensor.readFloats(from, target);
      for (let i = 0; i < target.length; i++) target[i]! += offset;
    },
  };
}
