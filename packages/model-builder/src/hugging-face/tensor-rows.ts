// A part of the rows of a tensor, for matrices that a checkpoint stores as one.

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
