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
} as const satisfies Readonly<
  Record<string, { readonly number: number; readonly bits: number; readonly hasMinimum: boolean }>
>;

export type WeightFormat = keyof typeof WEIGHT_FORMATS;
export type QuantisedFormat = Exclude<WeightFormat, 'f32'>;

/** Outputs of a tile. */
export const TILE_OUTPUTS = 16;
/** Inputs that share a scale. */
export const BLOCK_INPUTS = 32;

/** The code that stands for zero in formats without a minimum. */
export function codeOffset(format: QuantisedFormat): number {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  return hasMinimum ? 0 : 2 ** (bits - 1);
}

function codeBytes(format: WeightFormat): number {
  return (TILE_OUTPUTS * BLOCK_INPUTS * WEIGHT_FORMATS[format].bits) / 8;
}

/** Bytes of one block of a tile: 16 outputs of 32 inputs. */
export function blockBytes(format: WeightFormat): number {
  if (format === 'f32') return codeBytes(format);
  return codeBytes(format) + 2 * TILE_OUTPUTS * (WEIGHT_FORMATS[format].hasMinimum ? 2 : 1);
}

/** Bytes of a tile of a matrix with so many inputs. */
export function tileBytes(format: WeightFormat, inputs: number): number {
  return blockBytes(format) * Math.ceil(inputs / BLOCK_INPUTS);
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
  /** The same; read in formats with a minimum. */
  readonly minimums: Uint16Array;
}

/** Writes a block at byte `at`. Mutates: `target`, whose bytes there are zero before. */
export function packBlock(format: QuantisedFormat, block: BlockCodes, target: Uint8Array, at: number): void {
  const { codes, scales, minimums } = block;
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  for (let output = 0; output < TILE_OUTPUTS; output++) {
    for (let input = 0; input < BLOCK_INPUTS; input++) {
      const code = codes[output * BLOCK_INPUTS + input]!;
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
  const end = at + codeBytes(format);
  writeHalves(scales, target, end);
  if (hasMinimum) writeHalves(minimums, target, end + 2 * TILE_OUTPUTS);
}

/** Reads a block at byte `at`: the inverse of `packBlock`. Mutates: `block`, whose minimums are 0 in formats without. */
export function unpackBlock(
  format: QuantisedFormat,
  source: Uint8Array,
  at: number,
  block: BlockCodes,
): void {
  const { codes, scales, minimums } = block;
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  for (let output = 0; output < TILE_OUTPUTS; output++) {
    for (let input = 0; input < BLOCK_INPUTS; input++) {
      const group = input >> 2;
      const byte = 4 * output + (input & 3);
      const index = output * BLOCK_INPUTS + input;
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
  const end = at + codeBytes(format);
  readHalves(source, end, scales);
  if (hasMinimum) readHalves(source, end + 2 * TILE_OUTPUTS, minimums);
  else minimums.fill(0);
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
