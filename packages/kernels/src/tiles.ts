// Weight matrices in tiles of 16 outputs, in the order in which a product reads them. `c/weights.h` describes the layout.

/** How a matrix is stored; the numbers are attributes in graphs. */
export const WEIGHT_FORMATS = {
  f32: { number: 0, bits: 32, hasMinimum: false },
  q4: { number: 1, bits: 4, hasMinimum: false },
  'q4-min': { number: 2, bits: 4, hasMinimum: true },
  q5: { number: 3, bits: 5, hasMinimum: false },
  'q5-min': { number: 4, bits: 5, hasMinimum: true },
  q6: { number: 5, bits: 6, hasMinimum: false },
  q8: { number: 6, bits: 8, hasMinimum: false },
  // Those of K-quants: super-blocks, whose blocks have integer scales.
  'q4-k': { number: 7, bits: 4, hasMinimum: true },
  'q5-k': { number: 8, bits: 5, hasMinimum: true },
  'q6-k': { number: 9, bits: 6, hasMinimum: false },
} as const satisfies Readonly<
  Record<string, { readonly number: number; readonly bits: number; readonly hasMinimum: boolean }>
>;

export type WeightFormat = keyof typeof WEIGHT_FORMATS;
export type SuperBlockFormat = 'q4-k' | 'q5-k' | 'q6-k';
/** Formats whose blocks have scales of their own in float16. */
export type QuantisedFormat = Exclude<WeightFormat, 'f32' | SuperBlockFormat>;

/** Outputs of a tile. */
export const TILE_OUTPUTS = 16;
/** Inputs that share a scale. */
export const BLOCK_INPUTS = 32;
/** Inputs of a super-block. */
export const SUPER_BLOCK_INPUTS = 256;

export function isSuperBlockFormat(format: WeightFormat): format is SuperBlockFormat {
  return format === 'q4-k' || format === 'q5-k' || format === 'q6-k';
}

/** The code that stands for zero in formats without a minimum. */
export function codeOffset(format: Exclude<WeightFormat, 'f32'>): number {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  return hasMinimum ? 0 : 2 ** (bits - 1);
}

function codeBytes(format: WeightFormat): number {
  return (TILE_OUTPUTS * BLOCK_INPUTS * WEIGHT_FORMATS[format].bits) / 8;
}

/**
 * Bytes of one block of a tile, 16 outputs of 32 inputs; in a super-block without the factors at its start.
 */
export function blockBytes(format: WeightFormat): number {
  if (format === 'f32') return codeBytes(format);
  if (isSuperBlockFormat(format)) return codeBytes(format) + 2 * TILE_OUTPUTS;
  return codeBytes(format) + 2 * TILE_OUTPUTS * (WEIGHT_FORMATS[format].hasMinimum ? 2 : 1);
}

/** Bytes of a tile of a matrix with this many inputs. */
export function tileBytes(format: WeightFormat, inputs: number): number {
  const bytes = blockBytes(format) * Math.ceil(inputs / BLOCK_INPUTS);
  if (!isSuperBlockFormat(format)) return bytes;
  return bytes + factorBytes(format) * Math.ceil(inputs / SUPER_BLOCK_INPUTS);
}

/** Bytes of a whole super-block: 16 outputs of 256 inputs. */
export function superBlockBytes(format: SuperBlockFormat): number {
  return tileBytes(format, SUPER_BLOCK_INPUTS);
}

function factorBytes(format: SuperBlockFormat): number {
  return 2 * TILE_OUTPUTS * (WEIGHT_FORMATS[format].hasMinimum ? 2 : 1);
}

/** Bytes of a matrix; the last tile and the last block are whole. */
export function matrixBytes(format: WeightFormat, outputs: number, inputs: number): number {
  return tileBytes(format, inputs) * Math.ceil(outputs / TILE_OUTPUTS);
}

/** The numbers of one block: 16 outputs of 32 inputs. */
export interface BlockCodes {
  /** Shape: `[16, 32]`, without sign. */
  readonly codes: Uint8Array;
  /** Bits of float16. Shape: `[16]`. */
  readonly scales: Uint16Array;
  /** Bits of float16. Shape: `[16]`. Read in formats with a minimum. */
  readonly minimums: Uint16Array;
}

/** The numbers of one super-block: 16 outputs of 256 inputs. */
export interface SuperBlockCodes {
  /** Shape: `[16, 256]`, without sign. */
  readonly codes: Uint8Array;
  /**
   * Scale and minimum of each block; in `q6-k` the scales of inputs 0 to 15 and of the others, in two's
   * complement. Shape: `[16, 8, 2]`.
   */
  readonly scales: Uint8Array;
  /** Bits of float16: what scales are multiplied by. Shape: `[16]`. */
  readonly factors: Uint16Array;
  /** Bits of float16: what minimums are multiplied by. Shape: `[16]`. Not read in `q6-k`. */
  readonly minimumFactors: Uint16Array;
}

/** Writes a block at byte `at`. Mutates: `target`, whose bytes there are zero before. */
export function packBlock(format: QuantisedFormat, block: BlockCodes, target: Uint8Array, at: number): void {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  packCodes(bits, { codes: block.codes, width: BLOCK_INPUTS, from: 0 }, target, at);
  const end = at + codeBytes(format);
  writeHalves(block.scales, target, end);
  if (hasMinimum) writeHalves(block.minimums, target, end + 2 * TILE_OUTPUTS);
}

/** Writes a super-block at byte `at`. Mutates: `target`, whose bytes there are zero before. */
export function packSuperBlock(
  format: SuperBlockFormat,
  block: SuperBlockCodes,
  target: Uint8Array,
  at: number,
): void {
  const { codes, scales, factors, minimumFactors } = block;
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  writeHalves(factors, target, at);
  if (hasMinimum) writeHalves(minimumFactors, target, at + 2 * TILE_OUTPUTS);
  for (let i = 0; i < SUPER_BLOCK_INPUTS / BLOCK_INPUTS; i++) {
    const start = at + factorBytes(format) + i * blockBytes(format);
    packCodes(bits, { codes, width: SUPER_BLOCK_INPUTS, from: i * BLOCK_INPUTS }, target, start);
    const end = start + codeBytes(format);
    for (let output = 0; output < TILE_OUTPUTS; output++) {
      target[end + output] = scales[16 * output + 2 * i]!;
      target[end + TILE_OUTPUTS + output] = scales[16 * output + 2 * i + 1]!;
    }
  }
}

/** Reads a block at byte `at`: the inverse of `packBlock`. Mutates: `block`, whose minimums are 0 in formats without. */
export function unpackBlock(
  format: QuantisedFormat,
  source: Uint8Array,
  at: number,
  block: BlockCodes,
): void {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  unpackCodes(bits, { codes: block.codes, width: BLOCK_INPUTS, from: 0 }, source, at);
  const end = at + codeBytes(format);
  readHalves(source, end, block.scales);
  if (hasMinimum) readHalves(source, end + 2 * TILE_OUTPUTS, block.minimums);
  else block.minimums.fill(0);
}

/** Reads a super-block at byte `at`: the inverse of `packSuperBlock`. Mutates: `block`. */
export function unpackSuperBlock(
  format: SuperBlockFormat,
  source: Uint8Array,
  at: number,
  block: SuperBlockCodes,
): void {
  const { codes, scales, factors, minimumFactors } = block;
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  readHalves(source, at, factors);
  if (hasMinimum) readHalves(source, at + 2 * TILE_OUTPUTS, minimumFactors);
  else minimumFactors.fill(0);
  for (let i = 0; i < SUPER_BLOCK_INPUTS / BLOCK_INPUTS; i++) {
    const start = at + factorBytes(format) + i * blockBytes(format);
    unpackCodes(bits, { codes, width: SUPER_BLOCK_INPUTS, from: i * BLOCK_INPUTS }, source, start);
    const end = start + codeBytes(format);
    for (let output = 0; output < TILE_OUTPUTS; output++) {
      scales[16 * output + 2 * i] = source[end + output]!;
      scales[16 * output + 2 * i + 1] = source[end + TILE_OUTPUTS + output]!;
    }
  }
}

/** Inputs `from` to `from + 32` of 16 outputs with `width` codes each. */
interface CodesOfBlock {
  readonly codes: Uint8Array;
  readonly width: number;
  readonly from: number;
}

type CodeBits = (typeof WEIGHT_FORMATS)[Exclude<WeightFormat, 'f32'>]['bits'];

/** Mutates: `target`. */
function packCodes(
  bits: CodeBits,
  { codes, width, from }: CodesOfBlock,
  target: Uint8Array,
  at: number,
): void {
  for (let output = 0; output < TILE_OUTPUTS; output++) {
    for (let input = 0; input < BLOCK_INPUTS; input++) {
      const code = codes[output * width + from + input]!;
      const group = input >> 2;
      const byte = 4 * output + (input & 3);
      if (bits === 8) {
        target[at + 64 * group + byte] = code;
        continue;
      }
      target[at + 64 * (group >> 1) + byte]! |= (code & 15) << (4 * (group & 1));
      if (bits === 5) target[at + 256 + byte]! |= (code >> 4) << group;
      if (bits === 6) target[at + 256 + 64 * (group >> 2) + byte]! |= (code >> 4) << (2 * (group & 3));
    }
  }
}

/** Mutates: `codes`. */
function unpackCodes(
  bits: CodeBits,
  { codes, width, from }: CodesOfBlock,
  source: Uint8Array,
  at: number,
): void {
  for (let output = 0; output < TILE_OUTPUTS; output++) {
    for (let input = 0; input < BLOCK_INPUTS; input++) {
      const group = input >> 2;
      const byte = 4 * output + (input & 3);
      const index = output * width + from + input;
      if (bits === 8) {
        codes[index] = source[at + 64 * group + byte]!;
        continue;
      }
      let code = (source[at + 64 * (group >> 1) + byte]! >> (4 * (group & 1))) & 15;
      if (bits === 5) code |= ((source[at + 256 + byte]! >> group) & 1) << 4;
      if (bits === 6) code |= ((source[at + 256 + 64 * (group >> 2) + byte]! >> (2 * (group & 3))) & 3) << 4;
      codes[index] = code;
    }
  }
}

function readHalves(source: Uint8Array, at: number, halves: Uint16Array): void {
  for (let i = 0; i < TILE_OUTPUTS; i++) halves[i] = source[at + 2 * i]! | (source[at + 2 * i + 1]! << 8);
}

function writeHalves(halves: Uint16Array, target: Uint8Array, at: number): void {
  for (let i = 0; i < TILE_OUTPUTS; i++) {
    target[at + 2 * i] = halves[i]! & 255;
    target[at + 2 * i + 1] = halves[i]! >> 8;
  }
}
