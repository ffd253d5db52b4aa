// Floats beside quantised tensors.

import type { Checkpoint } from '../hugging-face/checkpoint.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';

/**
 * Matrices that are floats beside quantised ones, tables above all: builds that keep the values of the file round them to 8 bits,
 * because in float32 a table alone would be larger than all quantised layers of a small model.
 */
export function roundable(base: Checkpoint, tensor: CheckpointTensor): CheckpointTensor {
  if (tensor.shape.length !== 2) return tensor;
  return { ...tensor, quantised: { type: base.entry(tensor.name)!.entry.type, codes: undefined } };
}
