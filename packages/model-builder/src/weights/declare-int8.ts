// Declares int8 weights with one scale per output (W8A8), in the transposed layout of an integer matrix product.
//
//   value[out, in] ~ scales[out] * codes[in, out]      codes in [-127, 127]

import type { GraphRecorder } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { bytesOf, rowChunks } from './row-chunks.ts';
import { type WrittenRows, writtenMatrix } from './written-matrix.ts';

/** Names of an int8 matrix in the graph. */
export interface Int8Matrix {
  /** Shape: `[width, rowCount]`, the transpose of what checkpoints hold. */
  readonly codes: string;
  /** Shape: `[rowCount]`. */
  readonly scales: string;
}

const LARGEST_CODE = 127;

/** The largest number below 0.5. Its sum with 0.5 rounds to 1. */
const BELOW_HALF = 0.5 - 2 ** -54;

/** The matrix is transposed in strips of columns of at most this size, which bounds memory. Unit: bytes. */
const STRIP_BYTES = 64 * 2 ** 20;

/** Rows transposed together, which gives each column short runs of adjacent writes. */
const TRANSPOSED_ROWS = 64;

/** Source of the weights: the checkpoint, or dequantised 4-bit codes that were written before. */
export type Int8Source = { readonly kind: 'checkpoint' } | ({ readonly kind: '4-bit codes' } & WrittenRows);

/** Declares matrices of equal width, concatenated by rows. */
export function declareInt8(
  graph: GraphRecorder,
  name: string,
  parts: readonly CheckpointTensor[],
  source: Int8Source,
): Int8Matrix {
  const width = parts[0]!.shape[1]!;
  const rowCount = parts.reduce((sum, part) => sum + part.shape[0]!, 0);
  const matrix: Int8Matrix = { codes: `${name}.int8_codes`, scales: `${name}.int8_scales` };
  graph.weightGroup({
    tensors: [
      { name: matrix.codes, type: 'int8', dims: [width, rowCount] },
      { name: matrix.scales, type: 'float32', dims: [rowCount] },
    ],
    async *produce(written) {
      const matrices =
        source.kind === 'checkpoint' ? parts : [writtenMatrix(source, [rowCount, width], written)];
      const scales = new Float32Array(rowCount);
      const stripWidth = Math.min(width, Math.max(1, Math.floor(STRIP_BYTES / rowCount)));
      for (let start = 0; start < width; start += stripWidth) {
        const end = Math.min(width, start + stripWidth);
        const codes = new Int8Array((end - start) * rowCount);
        let firstRow = 0;
        for await (const chunk of rowChunks(matrices, width)) {
          if (start === 0) findScales(chunk, width, scales.subarray(firstRow));
          transposeColumns(chunk, { width, start, end, firstRow, rowCount, scales }, codes);
          firstRow += chunk.length / width;
        }
        yield [new Uint8Array(codes.buffer), new Uint8Array(0)];
      }
      yield [new Uint8Array(0), bytesOf(scales)];
    },
  });
  return matrix;
}

/** Scale of each row: its largest magnitude divided by 127. Mutates: the first elements of `scales`. */
function findScales(rows: Float32Array, width: number, scales: Float32Array): void {
  for (let start = 0, row = 0; start < rows.length; start += width, row++) {
    let largest = 0;
    for (let i = start; i < start + width; i++) {
      const magnitude = Math.abs(rows[i]!);
      if (magnitude > largest) largest = magnitude;
    }
    scales[row] = largest / LARGEST_CODE;
  }
}

interface Strip {
  readonly width: number;
  /** Columns of the strip: `[start, end)`. */
  readonly start: number;
  readonly end: number;
  /** First row of the chunk in the whole matrix. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly scales: Float32Array;
}

/** Quantises and transposes a strip of a chunk. Mutates: `codes`, `[end - start, rowCount]`, in the rows of the chunk. */
function transposeColumns(chunk: Float32Array, strip: Strip, codes: Int8Array): void {
  const { width, start, end, firstRow, rowCount, scales } = strip;
  const chunkRows = chunk.length / width;
  const inverses = new Float64Array(TRANSPOSED_ROWS);
  for (let from = 0; from < chunkRows; from += TRANSPOSED_ROWS) {
    const count = Math.min(TRANSPOSED_ROWS, chunkRows - from);
    for (let i = 0; i < count; i++) {
      const scale = scales[firstRow + from + i]!;
      inverses[i] = scale === 0 ? 0 : 1 / scale;
    }
    for (let column = start; column < end; column++) {
      const at = (column - start) * rowCount + firstRow + from;
      for (let i = 0; i < count; i++)
        codes[at + i] = code8(chunk[(from + i) * width + column]! * inverses[i]!);
    }
  }
}

/**
 * Clamped `Math.round`, which itself has an unpredictable branch here and takes twice as long. The sum below equals it for
 * every number but one.
 */
function code8(value: number): number {
  const code = value === BELOW_HALF ? 0 : Math.floor(value + 0.5) | 0;
  if (code < -LARGEST_CODE) return -LARGEST_CODE;
  if (code > LARGEST_CODE) return LARGEST_CODE;
  return code;
}
