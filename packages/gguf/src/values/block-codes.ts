// Types whose blocks of 32 elements are codes with one scale, and in some a minimum, in float16:
//
//   value = scale * (code - offset)      without a minimum
//   value = scale * code + minimum       with one; the offset is 0
//
// They can be moved into another container of such blocks without a change of any value.

export const BLOCK_LENGTH = 32;

/** The block types. `bits`: bits of a code. `offset`: the code that stands for zero. */
export const BLOCK_TYPES = {
  Q8_0: { bits: 8, offset: 128, hasMinimum: false, blockBytes: 34 },
  Q4_0: { bits: 4, offset: 8, hasMinimum: false, blockBytes: 18 },
  Q4_1: { bits: 4, offset: 0, hasMinimum: true, blockBytes: 20 },
  Q5_0: { bits: 5, offset: 16, hasMinimum: false, blockBytes: 22 },
  Q5_1: { bits: 5, offset: 0, hasMinimum: true, blockBytes: 24 },
  /** Its 16 codes stand for integers of 8 bits, which are given here. */
  IQ4_NL: { bits: 8, offset: 128, hasMinimum: false, blockBytes: 18 },
  /** Its 16 codes stand for integers from -12 to 12, times a power of two, which are given here. */
  MXFP4: { bits: 5, offset: 16, hasMinimum: false, blockBytes: 17 },
} as const;

export type BlockType = keyof typeof BLOCK_TYPES;

/** Integers that the codes of IQ4_NL and IQ4_XS stand for. Source: ggml-common.h, kvalues_iq4nl. */
export const IQ4_VALUES = Int8Array.of(
  -127,
  -104,
  -83,
  -65,
  -49,
  -35,
  -22,
  -10,
  1,
  13,
  25,
  38,
  53,
  69,
  89,
  113,
);

/** Values of E2M1 times two. Source: ggml-common.h, kvalues_mxfp4. */
export const E2M1_DOUBLED = Int8Array.of(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);

/** Exponents of the smallest and the largest power of two in float16. */
const HALF_EXPONENTS = { smallest: -24, smallestNormal: -14, largest: 15 } as const;
const HALF_INFINITY = 0x7c00;

export interface BlockCodes {
  /** Without sign. Shape: `[32]`. */
  readonly codes: Uint8Array;
  /** Bits of float16. */
  scale: number;
  /** Bits of float16; 0 in types without minimums. */
  minimum: number;
}

export function isBlockType(type: string): type is BlockType {
  return Object.hasOwn(BLOCK_TYPES, type);
}

/** Reads the block at byte `at`; a power of MXFP4 beyond float16 has the scale infinity. Mutates: `block`. */
export function readBlockCodes(type: BlockType, bytes: Uint8Array, at: number, block: BlockCodes): void {
  const { codes } = block;
  block.scale = bytes[at]! | (bytes[at + 1]! << 8);
  block.minimum = 0;
  switch (type) {
    case 'Q8_0':
      for (let i = 0; i < BLOCK_LENGTH; i++) codes[i] = bytes[at + 2 + i]! ^ 128;
      return;
    case 'Q4_0':
      readNibbles(bytes, at + 2, codes);
      return;
    case 'Q4_1':
      block.minimum = bytes[at + 2]! | (bytes[at + 3]! << 8);
      readNibbles(bytes, at + 4, codes);
      return;
    case 'Q5_0':
      readNibbles(bytes, at + 6, codes);
      addFifthBits(bytes, at + 2, codes);
      return;
    case 'Q5_1':
      block.minimum = bytes[at + 2]! | (bytes[at + 3]! << 8);
      readNibbles(bytes, at + 8, codes);
      addFifthBits(bytes, at + 4, codes);
      return;
    case 'IQ4_NL':
      readNibbles(bytes, at + 2, codes);
      for (let i = 0; i < BLOCK_LENGTH; i++) codes[i] = IQ4_VALUES[codes[i]!]! + 128;
      return;
    case 'MXFP4':
      readPowerBlock(bytes, at, block);
  }
}

/**
 * A power of two with a bias of 127, one power less because the table is doubled, and 16 bytes of codes. Powers below those of float16
 * become the smallest one, to whose multiples the values are rounded: below 1e-6, and by 3e-8 at most. Mutates: `block`.
 */
function readPowerBlock(bytes: Uint8Array, at: number, block: BlockCodes): void {
  const { codes } = block;
  const { smallest, smallestNormal, largest } = HALF_EXPONENTS;
  const exponent = bytes[at]! - 128;
  const held = Math.max(exponent, smallest);
  if (exponent > largest) block.scale = HALF_INFINITY;
  else block.scale = held < smallestNormal ? 1 << (held - smallest) : (held + 15) << 10;
  const down = 2 ** (exponent - held);
  readNibbles(bytes, at + 1, codes);
  for (let i = 0; i < BLOCK_LENGTH; i++) codes[i] = Math.round(E2M1_DOUBLED[codes[i]!]! * down) + 16;
}

/** Byte `i` has code `i` in its low half and code `i + 16` in its high one. Mutates: `codes`. */
function readNibbles(bytes: Uint8Array, at: number, codes: Uint8Array): void {
  for (let i = 0; i < BLOCK_LENGTH / 2; i++) {
    const both = bytes[at + i]!;
    codes[i] = both & 15;
    codes[i + BLOCK_LENGTH / 2] = both >> 4;
  }
}

/** Bit `i` of four bytes is the fifth bit of code `i`. Mutates: `codes`. */
function addFifthBits(bytes: Uint8Array, at: number, codes: Uint8Array): void {
  for (let i = 0; i < BLOCK_LENGTH; i++) codes[i]! |= ((bytes[at + (i >> 3)]! >> (i & 7)) & 1) << 4;
}
