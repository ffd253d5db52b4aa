// Decays of recurrent layers as a checkpoint has them.

import { ModelBuildError } from '../errors.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';

/** `ln(-x)` of each element, without codes. `readFloats` throws `tensor_mismatch` for elements that are not below 0. */
export function logarithms({ name, shape, readFloats }: CheckpointTensor): CheckpointTensor {
  return {
    name,
    shape,
    async readFloats(from, target) {
      await readFloats(from, target);
      for (const [i, value] of target.entries()) {
        if (value < 0) target[i] = Math.log(-value);
        else {
          const message = `tensor ${JSON.stringify(name)}: element ${from + i} is ${value}; decays must be below 0`;
          throw new ModelBuildError('tensor_mismatch', message, { tensor: name });
        }
      }
    },
  };
}
