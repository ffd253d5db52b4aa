// Weights times a factor for each row, for models that multiply results of matrices by numbers of config.json.

import type { CheckpointTensor } from './checkpoint-tensor.ts';

/** The tensor itself where all factors are 1. Codes of a quantised tensor are not kept: their scales would be others. */
export function scaledRows(tensor: CheckpointTensor, factorOf: (row: number) => number): CheckpointTensor {
  const [rowCount = 0, ...rest] = tensor.shape;
  const factors = Float64Array.from({ length: rowCount }, (_, row) => factorOf(row));
  if (factors.every(factor => factor === 1)) return tensor;
  const width = rest.reduce((product, size) => product * size, 1);
  return {
    name: tensor.name,
    shape: tensor.shape,
    async readFloats(from, target) {
      await tensor.readFloats(from, target);
      for (let i = 0; i < target.length; i++) target[i]! *= factors[Math.floor((from + i) / width)]!;
    },
  };
}
