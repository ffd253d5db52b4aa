// Reference dequantisation, written from the description of the layout.

import {
  blockCount,
  type CodeBits,
  QUANTISATION_BLOCK,
  type QuantisedRows,
} from '../src/weights/quantise.ts';

/** Shape: `[rows, width]`. */
export function dequantiseRows(rows: QuantisedRows, width: number, bits: CodeBits): Float32Array {
  const blocks = blockCount(width);
  const rowCount = rows.scales.length / blocks;
  const values = new Float32Array(rowCount * width);
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < width; column++) {
      const block = Math.floor(column / QUANTISATION_BLOCK);
      const at = (row * blocks + block) * QUANTISATION_BLOCK + (column % QUANTISATION_BLOCK);
      const code = bits === 8 ? rows.codes[at]! : nibble(rows.codes, at);
      const zeroPoint = bits === 8 ? 128 : nibble(rows.zeroPoints, row * Math.ceil(blocks / 2) * 2 + block);
      values[row * width + column] = rows.scales[row * blocks + block]! * (code - zeroPoint);
    }
  }
  return values;
}

/** The `index`-th half byte; the low half comes first. */
function nibble(bytes: Uint8Array, index: number): number {
  return (bytes[index >> 1]! >> ((index & 1) * 4)) & 15;
}
