// Dequantisation of types whose 4-bit codes stand for the values of a table: IQ4_XS, and MXFP4 of the OCP Microscaling formats.
// Source: ggml-quants.c (dequantize_row_iq4_xs, dequantize_row_mxfp4), gguf-py quants.py.

import { E2M1_DOUBLED, IQ4_VALUES } from './block-codes.ts';
import { readHalf } from './half.ts';
import type { SuperBlockReader } from './k-quants.ts';

/** float16 of scales, 2 bytes of high and 4 of low bits of 8 scales, 128 bytes of codes. */
export const readIq4Xs: SuperBlockReader = (bytes, at, target, to) => {
  const d = readHalf(bytes, at);
  const highs = bytes[at + 2]! | (bytes[at + 3]! << 8);
  for (let block = 0; block < 8; block++) {
    const low = (bytes[at + 4 + (block >> 1)]! >> (4 * (block & 1))) & 15;
    const scale = d * ((low | (((highs >> (2 * block)) & 3) << 4)) - 32);
    const codes = at + 8 + 16 * block;
    const first = to + 32 * block;
    for (let i = 0; i < 16; i++) {
      const both = bytes[codes + i]!;
      target[first + i] = scale * IQ4_VALUES[both & 15]!;
      target[first + 16 + i] = scale * IQ4_VALUES[both >> 4]!;
    }
  }
};

/** A power of two with a bias of 127, then 16 bytes of codes. One power less, because the table is doubled. */
export const readMxfp4: SuperBlockReader = (bytes, at, target, to) => {
  const scale = 2 ** (bytes[at]! - 128);
  for (let i = 0; i < 16; i++) {
    const both = bytes[at + 1 + i]!;
    target[to + i] = scale * E2M1_DOUBLED[both & 15]!;
    target[to + 16 + i] = scale * E2M1_DOUBLED[both >> 4]!;
  }
};
