// Some rows of a tensor, for matrices that a checkpoint stores as one.

import type { CheckpointTensor } from './checkpoint-tensor.ts';

/** Rows `[first, first + count)` as a tensor of their own, codes included. */
export function tensorRows(tensor: CheckpointTensor, first: number, count: number): CheckpointTensor {
  const { shape, quantised } = tensor;
  const width = shape.slice(1).reduce((product, dim) => product * dim, 1);
  return {
    name: `${tensor.name}[${first}:${first + count}]`,
    shape: [count, ...shape.slice(1)],
    ...(quantised === undefined
      ? {}
      : {
          quantised: {
            type: quantised.type,
            codes: shifted(quantised.codes, first),
            superBlocks: shifted(quantised.superBlocks, first),
          },
        }),
    readFloats: (from, target) => tensor.readFloats(first * width + from, target),
  };
}

/** The same values as rows of the last dimension, or of `width`: `[experts, outputs, inputs]` becomes `[experts * outputs, inputs]`. */
export function flatRows(tensor: CheckpointTensor, width = tensor.shape.at(-1)!): CheckpointTensor {
  const count = tensor.shape.reduce((product, size) => product * size, 1);
  return { ...tensor, shape: [count / width, width] };
}

/** Rows `first`, `first + step` and so on, without codes. */
export function everyRow(
  { name, shape, readFloats }: CheckpointTensor,
  { first, step, count }: { readonly first: number; readonly step: number; readonly count: number },
): CheckpointTensor {
  const width = shape[1]!;
  return {
    name: `${name}[${first}::${step}]`,
    shape: [count, width],
    async readFloats(from, target) {
      const rows = target.length / width;
      const between = new Float32Array(((rows - 1) * step + 1) * width);
      await readFloats((first + (from / width) * step) * width, between);
      for (let row = 0; row < rows; row++)
        target.set(between.subarray(row * step * width, (row * step + 1) * width), row * width);
    },
  };
}

interface RowReader<Rows> {
  readRows(first: number, count: number): Promise<Rows>;
}

function shifted<Rows, Codes extends RowReader<Rows>>(
  codes: Codes | undefined,
  first: number,
): Codes | undefined {
  if (codes === undefined) return undefined;
  return { ...codes, readRows: (row: number, count: number) => codes.readRows(first + row, count) };
}
