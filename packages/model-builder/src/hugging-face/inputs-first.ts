// Matrices that a checkpoint stores with inputs first. A row of the builder is then a column, so such a matrix is read as a whole.

import type { CheckpointTensor } from './checkpoint-tensor.ts';
import type { RecentMatrices } from './recent-matrices.ts';

/** Matrix `index` of a tensor `[matrices, inputs, outputs]`, as `[outputs, inputs]` and without codes. */
export function inputsFirst(
  { name: all, shape, readFloats }: CheckpointTensor,
  index: number,
  recent: RecentMatrices,
): CheckpointTensor {
  const [, inputs, outputs] = shape as readonly [number, number, number];
  const name = `${all}[${index}]`;
  const read = async () => {
    const values = new Float32Array(inputs * outputs);
    await readFloats(index * values.length, values);
    return values;
  };
  return {
    name,
    shape: [outputs, inputs],
    async readFloats(from, target) {
      const values = await recent.get(name, read);
      for (let i = 0; i < target.length; i++) {
        const [row, column] = [Math.floor((from + i) / inputs), (from + i) % inputs];
        target[i] = values[column * outputs + row]!;
      }
    },
  };
}
