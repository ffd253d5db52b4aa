// Reads matrices of the checkpoint in chunks of rows, so that memory does not depend on their size.

import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';

/** Maximum number of elements per chunk, unless a single row is longer. Unit: elements (4 bytes each as float32). */
const CHUNK_ELEMENTS = 1 << 20;

/**
 * The rows of several matrices of equal width, one matrix after the other, in chunks of whole rows.
 *
 * Shape of a chunk: `[rows, width]`. The next chunk overwrites it.
 */
export async function* rowChunks(
  matrices: readonly CheckpointTensor[],
  width: number,
): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const rowCounts = matrices.map(({ shape }) => shape.reduce((product, dim) => product * dim, 1) / width);
  const rowsThatFit = Math.max(1, Math.floor(CHUNK_ELEMENTS / width));
  const rowsPerChunk = Math.min(rowsThatFit, Math.max(...rowCounts));
  const buffer = new Float32Array(rowsPerChunk * width);
  for (const [i, matrix] of matrices.entries()) {
    const rowCount = rowCounts[i]!;
    for (let row = 0; row < rowCount; row += rowsPerChunk) {
      const rows = Math.min(rowsPerChunk, rowCount - row);
      const chunk = buffer.subarray(0, rows * width);
      await matrix.readFloats(row * width, chunk);
      yield chunk;
    }
  }
}

/** The memory of an array as bytes, without a copy. */
export function bytesOf(array: Float32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
