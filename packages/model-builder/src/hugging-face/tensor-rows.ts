// Some rows of a tensor, for matrices that a checkpoint stores as one.

import { BLOCK_INPUTS } from '@ortler/kernels';
import { allocateCodeRows, type CodeRows } from '../stored-codes.ts';
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

/** Rows `first`, `first + step` and so on, codes of blocks included. */
export function everyRow(
  { name, shape, readFloats, quantised }: CheckpointTensor,
  { first, step, count }: { readonly first: number; readonly step: number; readonly count: number },
): CheckpointTensor {
  const width = shape[1]!;
  const codes = quantised?.codes;
  return {
    name: `${name}[${first}::${step}]`,
    shape: [count, width],
    ...(quantised === undefined
      ? {}
      : {
          quantised: {
            type: quantised.type,
            codes: codes && {
              format: codes.format,
              async readRows(row: number, rowCount: number) {
                const between = await codes.readRows(first + row * step, (rowCount - 1) * step + 1);
                return everyCodeRow(between, step, rowCount);
              },
            },
          },
        }),
    async readFloats(from, target) {
      const rows = target.length / width;
      const between = new Float32Array(((rows - 1) * step + 1) * width);
      await readFloats((first + (from / width) * step) * width, between);
      for (let row = 0; row < rows; row++)
        target.set(between.subarray(row * step * width, (row * step + 1) * width), row * width);
    },
  };
}

function everyCodeRow(between: CodeRows, step: number, rowCount: number): CodeRows {
  const { width } = between;
  const rows = allocateCodeRows(rowCount, width);
  const blocks = width / BLOCK_INPUTS;
  for (let row = 0; row < rowCount; row++) {
    const [codes, at] = [row * step * width, row * step * blocks];
    rows.codes.set(between.codes.subarray(codes, codes + width), row * width);
    rows.scales.set(between.scales.subarray(at, at + blocks), row * blocks);
    rows.minimums.set(between.minimums.subarray(at, at + blocks), row * blocks);
  }
  return rows;
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
