// Dequantisation of K-quants: super-blocks of 256 elements in blocks of 16 or 32, whose scales and minimums are integers times a
// float16 of the super-block.
//
// Products of a float16 and these integers, and their differences, are exact in doubles, so the one rounding is that of the
// store to float32: the values are those of arithmetic in float32, bit for bit.
// Source: ggml-quants.c (dequantize_row_q2_K and following), gguf-py quants.py.

import { readHalf } from './half.ts';

/** Dequantises one super-block at byte `at` to `target[to, to + 256)`. Mutates: `target`. */
export type SuperBlockReader = (bytes: Uint8Array, at: number, target: Float32Array, to: number) => void;

/** 16 bytes of scale and minimum, 64 of codes, float16 of scales, float16 of minimums. */
export const readQ2K: SuperBlockReader = (bytes, at, target, to) => {
  const d = readHalf(bytes, at + 80);
  const dMinimum = readHalf(bytes, at + 82);
  for (let block = 0; block < 16; block++) {
    const both = bytes[at + block]!;
    const scale = d * (both & 15);
    const minimum = dMinimum * (both >> 4);
    // Two blocks share 32 bytes, in each of which four pairs of blocks have two bits.
    const codes = at + 16 + 32 * (block >> 3) + 16 * (block & 1);
    const shift = 2 * ((block >> 1) & 3);
    for (let i = 0; i < 16; i++)
      target[to + 16 * block + i] = scale * ((bytes[codes + i]! >> shift) & 3) - minimum;
  }
};

/** 32 bytes of third bits, 64 of codes, 12 of scales in 6 bits, float16 of scales. */
export const readQ3K: SuperBlockReader = (bytes, at, target, to) => {
  const d = readHalf(bytes, at + 108);
  for (let block = 0; block < 16; block++) {
    const scale = d * signedScaleOf(bytes, at + 96, block);
    const inside = 16 * (block & 1);
    const codes = at + 32 + 32 * (block >> 3) + inside;
    const shift = 2 * ((block >> 1) & 3);
    const bit = block >> 1;
    for (let i = 0; i < 16; i++) {
      const third = (bytes[at + inside + i]! >> bit) & 1;
      target[to + 16 * block + i] = scale * (((bytes[codes + i]! >> shift) & 3) - (third === 0 ? 4 : 0));
    }
  }
};

/** The scale of a block of Q3_K, -32 to 31: 16 scales in 6 bits from byte `at`. */
export function signedScaleOf(bytes: Uint8Array, at: number, block: number): number {
  const low = (bytes[at + (block & 7)]! >> (4 * (block >> 3))) & 15;
  const high = (bytes[at + 8 + (block & 3)]! >> (2 * (block >> 2))) & 3;
  return (low | (high << 4)) - 32;
}

/** The scale of a block of Q4_K or Q5_K: 8 scales and 8 minimums in 6 bits from byte `at`. */
export function scaleOf(bytes: Uint8Array, at: number, block: number): number {
  if (block < 4) return bytes[at + block]! & 63;
  return (bytes[at + 4 + block]! & 15) | ((bytes[at + block - 4]! >> 2) & 48);
}

/** The minimum of a block, as `scaleOf`. */
export function minimumOf(bytes: Uint8Array, at: number, block: number): number {
  if (block < 4) return bytes[at + 4 + block]! & 63;
  return (bytes[at + 4 + block]! >> 4) | ((bytes[at + block]! >> 2) & 48);
}

/** float16 of scales, float16 of minimums, 12 bytes of both, 128 of codes. */
export const readQ4K: SuperBlockReader = (bytes, at, target, to) => {
  const d = readHalf(bytes, at);
  const dMinimum = readHalf(bytes, at + 2);
  for (let block = 0; block < 8; block++) {
    const scale = d * scaleOf(bytes, at + 4, block);
    const minimum = dMinimum * minimumOf(bytes, at + 4, block);
    const codes = at + 16 + 32 * (block >> 1);
    const shift = 4 * (block & 1);
    for (let i = 0; i < 32; i++)
      target[to + 32 * block + i] = scale * ((bytes[codes + i]! >> shift) & 15) - minimum;
  }
};

/** As Q4_K, with 32 bytes of fifth bits before the codes. */
export const readQ5K: SuperBlockReader = (bytes, at, target, to) => {
  const d = readHalf(bytes, at);
  const dMinimum = readHalf(bytes, at + 2);
  for (let block = 0; block < 8; block++) {
    const scale = d * scaleOf(bytes, at + 4, block);
    const minimum = dMinimum * minimumOf(bytes, at + 4, block);
    const codes = at + 48 + 32 * (block >> 1);
    const shift = 4 * (block & 1);
    for (let i = 0; i < 32; i++) {
      const fifth = (bytes[at + 16 + i]! >> block) & 1;
      target[to + 32 * block + i] = scale * (((bytes[codes + i]! >> shift) & 15) | (fifth << 4)) - minimum;
    }
  }
};

/** 128 bytes of low halves, 64 of two high bits, 16 signed scales, float16 of scales. */
export const readQ6K: SuperBlockReader = (bytes, at, target, to) => {
  const d = readHalf(bytes, at + 208);
  for (let block = 0; block < 16; block++) {
    const scale = d * ((bytes[at + 192 + block]! << 24) >> 24);
    // 128 elements are four groups of 32 in 64 bytes of low halves and 32 bytes of high bits.
    const half = block >> 3;
    const group = (block >> 1) & 3;
    const inside = 16 * (block & 1);
    const lows = at + 64 * half + 32 * (group & 1) + inside;
    const highs = at + 128 + 32 * half + inside;
    const lowShift = 4 * (group >> 1);
    const highShift = 2 * group;
    for (let i = 0; i < 16; i++) {
      const code = ((bytes[lows + i]! >> lowShift) & 15) | (((bytes[highs + i]! >> highShift) & 3) << 4);
      target[to + 16 * block + i] = scale * (code - 32);
    }
  }
};
