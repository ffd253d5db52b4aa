// Types whose super-blocks of 256 elements are codes with integer scales of blocks and one or two float16 of the super-block:
//
//   Q4_K, Q5_K   value = factor * scale * code - minimumFactor * minimum    scale and minimum of 32 elements, 0 to 63
//   Q6_K         value = factor * scale * (code - 32)                       scale of 16 elements, -128 to 127
//   Q3_K         the same, with codes from 28 to 35 and scales from -32 to 31
//
// They can be moved into another container of such super-blocks without a change of any value.

import { minimumOf, scaleOf, signedScaleOf } from './k-quants.ts';

export const SUPER_BLOCK_LENGTH = 256;

export const SUPER_BLOCK_TYPES = {
  Q4_K: { bits: 4, blockBytes: 144 },
  Q5_K: { bits: 5, blockBytes: 176 },
  Q6_K: { bits: 6, blockBytes: 210 },
  Q3_K: { bits: 6, blockBytes: 110 },
} as const;

export type SuperBlockType = keyof typeof SUPER_BLOCK_TYPES;

export interface SuperBlockCodes {
  /** Without sign. Shape: `[256]`. */
  readonly codes: Uint8Array;
  /**
   * Scale and minimum of each 32 elements; in Q6_K and Q3_K two scales, in two's complement. Shape: `[8, 2]`.
   */
  readonly scales: Uint8Array;
  /** Bits of float16. */
  factor: number;
  /** Bits of float16; 0 in Q6_K and Q3_K. */
  minimumFactor: number;
}

export function isSuperBlockType(type: string): type is SuperBlockType {
  return Object.hasOwn(SUPER_BLOCK_TYPES, type);
}

/** Reads the super-block at byte `at`. Mutates: `block`. */
export function readSuperBlockCodes(
  type: SuperBlockType,
  bytes: Uint8Array,
  at: number,
  block: SuperBlockCodes,
): void {
  if (type === 'Q6_K') {
    readSixBits(bytes, at, block.codes);
    block.scales.set(bytes.subarray(at + 192, at + 208));
    block.factor = readBits(bytes, at + 208);
    block.minimumFactor = 0;
    return;
  }
  if (type === 'Q3_K') {
    readThreeBits(bytes, at, block.codes);
    for (let i = 0; i < 16; i++) block.scales[i] = signedScaleOf(bytes, at + 96, i);
    block.factor = readBits(bytes, at + 108);
    block.minimumFactor = 0;
    return;
  }
  block.factor = readBits(bytes, at);
  block.minimumFactor = readBits(bytes, at + 2);
  for (let i = 0; i < 8; i++) {
    block.scales[2 * i] = scaleOf(bytes, at + 4, i);
    block.scales[2 * i + 1] = minimumOf(bytes, at + 4, i);
  }
  const fifths = type === 'Q5_K' ? at + 16 : undefined;
  const lows = type === 'Q5_K' ? at + 48 : at + 16;
  for (let i = 0; i < SUPER_BLOCK_LENGTH; i++) {
    const group = i >> 5;
    const low = (bytes[lows + 32 * (group >> 1) + (i & 31)]! >> (4 * (group & 1))) & 15;
    const fifth = fifths === undefined ? 0 : (bytes[fifths + (i & 31)]! >> group) & 1;
    block.codes[i] = low | (fifth << 4);
  }
}

/** 128 elements are four groups of 32 in 64 bytes of low halves and 32 bytes of high bits. Mutates: `codes`. */
function readSixBits(bytes: Uint8Array, at: number, codes: Uint8Array): void {
  for (let i = 0; i < SUPER_BLOCK_LENGTH; i++) {
    const half = i >> 7;
    const group = (i >> 5) & 3;
    const inside = i & 31;
    const low = (bytes[at + 64 * half + 32 * (group & 1) + inside]! >> (4 * (group >> 1))) & 15;
    const high = (bytes[at + 128 + 32 * half + inside]! >> (2 * group)) & 3;
    codes[i] = low | (high << 4);
  }
}

/** Two low bits in 64 bytes, and 32 bytes of third bits, without which a code is four less. Mutates: `codes`. */
function readThreeBits(bytes: Uint8Array, at: number, codes: Uint8Array): void {
  for (let i = 0; i < SUPER_BLOCK_LENGTH; i++) {
    const group = i >> 5;
    const inside = i & 31;
    const low = (bytes[at + 32 + 32 * (group >> 2) + inside]! >> (2 * (group & 3))) & 3;
    const third = (bytes[at + inside]! >> group) & 1;
    codes[i] = low + (third === 0 ? 28 : 32);
  }
}

function readBits(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}
