// Dequantises rows of 4-bit codes, for graphs that store the same weights in another format. Caller: `written-matrix.ts`.

import { blockCount, QUANTISATION_BLOCK, type QuantisedRows } from './quantise.ts';

/**
 * Dequantises 4-bit codes with float32 scales, to exactly the values that MatMulNBits computes with.
 *
 * Shape of `values`: `[rows, width]`. Mutates: `values`.
 */
export function dequantiseRows4(
  { codes, scales, zeroPoints }: QuantisedRows,
  width: number,
  values: Float32Array,
): void {
  const rows = values.length / width;
  const blocks = blockCount(width);
  const zeroPointBytes = Math.ceil(blocks / 2);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const at = row * blocks + block;
      const scale = scales[at]!;
      const zeroPoint = nibble(zeroPoints[row * zeroPointBytes + (block >> 1)]!, block);
      const start = row * width + block * QUANTISATION_BLOCK;
      const count = Math.min(QUANTISATION_BLOCK, width - block * QUANTISATION_BLOCK);
      const codeStart = (at * QUANTISATION_BLOCK) / 2;
      for (let i = 0; i < count; i++)
        values[start + i] = scale * (nibble(codes[codeStart + (i >> 1)]!, i) - zeroPoint);
    }
  }
}

/** One of two 4-bit codes in a byte; even indexes are in the low half. */
function nibble(byte: number, index: number): number {
  return (index & 1) === 0 ? byte & 15 : byte >> 4;
}
