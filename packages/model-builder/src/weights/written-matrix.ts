// Reads back a 4-bit matrix that was written for an earlier graph of the build, for graphs that store the same weights in
// another format. Quantisation is most of a build's work, so it is done once.

import type { WrittenBytes } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { quantisedNames } from './declare-weights.ts';
import { dequantiseRows4 } from './dequantise-rows.ts';
import { allocateQuantisedRows, blockCount } from './quantise.ts';
import { bytesOf } from './row-chunks.ts';

/** Location of a matrix: a written matrix, or some of its rows. */
export interface WrittenRows {
  /** Name given to `declareQuantised`, with 4 bits and float32 scales. */
  readonly name: string;
  /** First row of the matrix in the written one. */
  readonly firstRow: number;
}

/**
 * A tensor like those of the checkpoint, read in whole rows. Its values are the dequantised codes.
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
      dequantiseRows4(rows, width, target);
    },
  };
}
