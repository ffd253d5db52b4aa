// A matrix that an earlier graph of the build has in 4 bits, for graphs that store the same model in another way: choosing scales
// is most of a build's work, so it is done once.

import type { WrittenBytes } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { quantisedNames } from './declare-weights.ts';
import { allocateQuantisedRows, blockCount } from './quantise.ts';
import { bytesOf } from './row-chunks.ts';
import { widenRows4 } from './widen-rows.ts';

/** Where a matrix is: all of a quantised one, or some of its rows. */
export interface WrittenRows {
  /** As `declareQuantised` was given it, with 4 bits and float32 scales. */
  readonly name: string;
  /** Row of it that the matrix begins with. */
  readonly firstRow: number;
}

/**
 * Reads like a matrix of the checkpoint, in whole rows. Its values are what the codes stand for.
 *
 * Shape: `[rows, width]`.
 */
export function writtenMatrix(
  { name, firstRow }: WrittenRows,
  shape: readonly [number, number],
  written: WrittenBytes,
): CheckpointTensor {
  const { codes, scales, zeroPoints } = quantisedNames(name, 4);
  const width = shape[1];
  let rows = allocateQuantisedRows(0, width, 4);
  return {
    name,
    shape,
    async readFloats(from, target) {
      const rowCount = target.length / width;
      if (rows.scales.length !== rowCount * blockCount(width))
        rows = allocateQuantisedRows(rowCount, width, 4);
      const row = firstRow + from / width;
      for (const [tensor, bytes] of [
        [codes, rows.codes],
        [scales, bytesOf(rows.scales)],
        [zeroPoints, rows.zeroPoints],
      ] as const)
        await written.read(tensor, row * (bytes.length / rowCount), bytes);
      widenRows4(rows, width, target);
    },
  };
}
