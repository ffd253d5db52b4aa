// Codes and scales of a quantised tensor of a checkpoint, which are moved into a build without a change of any value.

import {
  BLOCK_INPUTS,
  codeOffset,
  isSuperBlockFormat,
  type QuantisedFormat,
  SUPER_BLOCK_INPUTS,
  type SuperBlockFormat,
  WEIGHT_FORMATS,
  type WeightFormat,
} from '@ortler/kernels';

/** Rows of codes in blocks of 32. */
export interface CodeRows {
  readonly rowCount: number;
  /** Whole blocks. */
  readonly width: number;
  /** Without sign. Shape: `[rows, width]`. */
  readonly codes: Uint8Array;
  /** Bits of float16. Shape: `[rows, width / 32]`. */
  readonly scales: Uint16Array<ArrayBuffer>;
  /** The same; 0 in formats without minimums. */
  readonly minimums: Uint16Array<ArrayBuffer>;
}

/** The codes of a tensor, in the blocks and with the scales of a format of the CPU kernels. */
export interface StoredCodes {
  readonly format: QuantisedFormat;
  /** Rows `[first, first + count)`. Throws: as `CheckpointTensor.readFloats`. */
  readRows(first: number, count: number): Promise<CodeRows>;
}

/** Rows of codes in super-blocks of 256. */
export interface SuperBlockRows {
  readonly rowCount: number;
  /** Whole super-blocks. */
  readonly width: number;
  /** Without sign. Shape: `[rows, width]`. */
  readonly codes: Uint8Array;
  /** Two bytes for each block of 32, as in `SuperBlockCodes`. Shape: `[rows, width / 32, 2]`. */
  readonly scales: Uint8Array;
  /** Bits of float16. Shape: `[rows, width / 256]`. */
  readonly factors: Uint16Array;
  /** The same; 0 in formats without minimums. */
  readonly minimumFactors: Uint16Array;
}

/** The codes of a tensor in the super-blocks of a format of the CPU kernels. */
export interface StoredSuperBlocks {
  readonly format: SuperBlockFormat;
  /** Rows `[first, first + count)`. Throws: as `CheckpointTensor.readFloats`. */
  readRows(first: number, count: number): Promise<SuperBlockRows>;
}

/** How a file holds a tensor that is not in floats. */
export interface QuantisedStorage {
  /** Name of the type in the file, for people: `Q4_K`. */
  readonly type: string;
  /** Undefined where no format of blocks holds its codes and scales as they are. */
  readonly codes: StoredCodes | undefined;
  /** Codes and scales in a format of super-blocks. At most one of `codes` and `superBlocks` is defined. */
  readonly superBlocks?: StoredSuperBlocks | undefined;
}

export function allocateCodeRows(rowCount: number, width: number): CodeRows {
  const blocks = rowCount * (width / BLOCK_INPUTS);
  return {
    rowCount,
    width,
    codes: new Uint8Array(rowCount * width),
    scales: new Uint16Array(blocks),
    minimums: new Uint16Array(blocks),
  };
}

export function allocateSuperBlockRows(rowCount: number, width: number): SuperBlockRows {
  const superBlocks = rowCount * (width / SUPER_BLOCK_INPUTS);
  return {
    rowCount,
    width,
    codes: new Uint8Array(rowCount * width),
    scales: new Uint8Array(16 * superBlocks),
    factors: new Uint16Array(superBlocks),
    minimumFactors: new Uint16Array(superBlocks),
  };
}

/** Whether every value in `stored` is a value in `format` with the same scale and minimum. */
export function holdsCodes(format: WeightFormat, stored: QuantisedFormat): format is QuantisedFormat {
  if (format === 'f32' || isSuperBlockFormat(format)) return false;
  const [target, source] = [WEIGHT_FORMATS[format], WEIGHT_FORMATS[stored]];
  return target.hasMinimum === source.hasMinimum && target.bits >= source.bits;
}

/** Added to codes in `stored`, they are codes in `format`, which holds them. */
export function codeShift(format: QuantisedFormat, stored: QuantisedFormat): number {
  return codeOffset(format) - codeOffset(stored);
}
