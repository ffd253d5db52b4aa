// Reference dequantisation, written from the description of the layout.

import { blockCount, hasZeroPoints, type QuantisedRows } from '../src/weights/quantise.ts';

/** Shape: `[rows, width]`. */
export function dequantiseRows(rows: QuantisedRows, width: number): Float32Array {
  const { bits, blockSize } = rows;
  const blocks = blockCount(width, blockSize);
  const rowCount = rows.scales.length / blocks;
  const values = new Float32Array(rowCount * width);
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < width; column++) {
      const block = Math.floor(column / blockSize);
      const at = (row * blocks + block) * blockSize + (column % blockSize);
      const code = bits === 8 ? rows.codes[at]! : nibble(rows.codes, at);
      const middle = 2 ** (bits - 1);
      const zeroPoint = hasZeroPoints(rows)
        ? nibble(rows.zeroPoints, row * Math.ceil(blocks / 2) * 2 + block)
        : middle;
      values[row * width + column] = rows.scales[row * blocks + block]! * (code - zeroPoint);
    }
  }
  return values;
}

/** The `index`-th half byte; the low half comes first. */
function nibble(bytes: Uint8Array, index: number): number {
  return (bytes[index >> 1]! >> ((index & 1) * 4)) & 15;
}
