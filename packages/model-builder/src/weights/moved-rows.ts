// Moves the codes of a checkpoint into the layout of ONNX Runtime's MatMulNBits, without a change of any value.

import { codeOffset, WEIGHT_FORMATS } from '@ortler/kernels';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { CodeRows } from '../stored-codes.ts';
import { allocateQuantisedRows, type BlockFormat, type QuantisedRows } from './quantise.ts';

/** Block size of the checkpoint's codes. */
const BLOCK_SIZE = 32;

/** Unit: elements. */
const CHUNK_ELEMENTS = 1 << 20;

/**
 * Undefined where the tensor has no codes, or where the operators cannot hold them: they have no float
 * minimums.
 */
export function movedRows(
  { shape, quantised }: CheckpointTensor,
  matrix: BlockFormat,
): AsyncGenerator<QuantisedRows> | undefined {
  const codes = quantised?.codes;
  if (codes === undefined || matrix.blockSize !== BLOCK_SIZE) return undefined;
  const { bits, hasMinimum } = WEIGHT_FORMATS[codes.format];
  if (hasMinimum || bits > matrix.bits) return undefined;
  const shift = 2 ** (matrix.bits - 1) - codeOffset(codes.format);
  const [rowCount, width] = shape as readonly [number, number];
  const rowsPerChunk = Math.max(1, Math.floor(CHUNK_ELEMENTS / width));
  return (async function* () {
    for (let first = 0; first < rowCount; first += rowsPerChunk)
      yield toQuantisedRows(
        await codes.readRows(first, Math.min(rowsPerChunk, rowCount - first)),
        matrix,
        shift,
      );
  })();
}

/** `shift` is added to each code, so that zero is the code in the middle. */
function toQuantisedRows(
  { rowCount, width, codes, scales }: CodeRows,
  matrix: BlockFormat,
  shift: number,
): QuantisedRows {
  const target = allocateQuantisedRows(rowCount, width, matrix);
  target.scales.set(new Float16Array(scales.buffer));
  if (matrix.bits === 8) {
    for (let i = 0; i < codes.length; i++) target.codes[i] = codes[i]! + shift;
    return target;
  }
  for (let i = 0; i < codes.length; i += 2) target.codes[i / 2] = codes[i]! | (codes[i + 1]! << 4);
  // Two zero points in a byte.
  target.zeroPoints.fill(8 * 17);
  return target;
}
