// Block-wise quantisation of matrix rows into the layout of ONNX Runtime's MatMulNBits.
//
// A row is cut into blocks of 64 elements, the last one padded. Each block has a scale (float32, or a value that
// float16 holds), and
//   value ~ scale * (code - zeroPoint)
// with 8-bit codes and the zero point 128 everywhere, or 4-bit codes and a zero point per block.
// Source: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulNBits

import { type FloatType, roundUpToFloat16, SMALLEST_NORMAL_16 } from './float16.ts';

/** Elements that share a scale. */
export const QUANTISATION_BLOCK = 64;

export type CodeBits = 4 | 8;

/** The middle of the 8-bit codes, which MatMulNBits assumes when it is given no zero points. */
const ZERO_POINT_8 = 128;

/** Scales below this have too few bits left to be a scale; such blocks become zeros. */
const SMALLEST_NORMAL = 2 ** -126;

/** A block of zeros, and padding, are stored as this code with this zero point. */
const ZERO_POINT_4 = 8;

const LARGEST_CODE_4 = 15;

/**
 * Step sizes that are tried for a 4-bit block, as shares of the one that spans its smallest and largest value.
 * Smaller steps clip the extremes and place the rest better. Six of them come within 2 % of the error of forty.
 */
const STEP_SHARES = [1, 1.03, 0.95, 0.9, 0.85, 0.8] as const;

/** Where quantised rows go. Mutated by the functions below, from the first element on. */
export interface QuantisedRows {
  /** Shape: `[rows, blocks, 64 * bits / 8]`; of two 4-bit codes in a byte the first is the low half. */
  readonly codes: Uint8Array;
  /** Shape: `[rows, blocks]`. */
  readonly scales: Float32Array<ArrayBuffer>;
  /** Shape: `[rows, ceil(blocks / 2)]`, packed like codes; not used with 8 bits. */
  readonly zeroPoints: Uint8Array;
}

/** Blocks in a row of `width` elements. */
export function blockCount(width: number): number {
  return Math.ceil(width / QUANTISATION_BLOCK);
}

/** Arrays for `rows` rows of `width` elements. */
export function allocateQuantisedRows(rows: number, width: number, bits: CodeBits): QuantisedRows {
  const blocks = blockCount(width);
  return {
    codes: new Uint8Array((rows * blocks * QUANTISATION_BLOCK * bits) / 8),
    scales: new Float32Array(rows * blocks),
    zeroPoints: new Uint8Array(bits === 4 ? rows * Math.ceil(blocks / 2) : 0),
  };
}

/**
 * Quantises `values` (`[rows, width]`) to 8 bits: each element is off by at most half a scale, which is
 * the largest magnitude of its block divided by 254. A float16 scale is up to a thousandth larger, and at least
 * `SMALLEST_NORMAL_16`.
 *
 * Mutates: `target`.
 */
export function quantiseRows8(
  values: Float32Array,
  width: number,
  target: QuantisedRows,
  scaleType: FloatType = 'float32',
): void {
  const rows = values.length / width;
  const blocks = blockCount(width);
  const { codes, scales } = target;
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const start = row * width + block * QUANTISATION_BLOCK;
      const end = Math.min(start + QUANTISATION_BLOCK, (row + 1) * width);
      let largest = 0;
      for (let i = start; i < end; i++) {
        const magnitude = Math.abs(values[i]!);
        if (magnitude > largest) largest = magnitude;
      }
      const exact = largest / 127;
      const scale = scaleType === 'float32' ? toScale32(exact) : toScale16(exact);
      const inverse = scale === 0 ? 0 : 1 / scale;
      const at = row * blocks + block;
      const codeStart = at * QUANTISATION_BLOCK;
      scales[at] = scale;
      for (let i = start; i < end; i++) {
        // The sum is positive, so dropping the fraction of a half more rounds to nearest.
        codes[codeStart + i - start] = (values[i]! * inverse + ZERO_POINT_8 + 0.5) | 0;
      }
      codes.fill(ZERO_POINT_8, codeStart + end - start, codeStart + QUANTISATION_BLOCK);
    }
  }
}

/**
 * Quantises `values` (`[rows, width]`) to 4 bits, choosing per block the scale and zero point of least squared
 * error among a few candidates. The error of a block is never above that of plain rounding between its
 * smallest and largest value, but for the rounding of a float16 scale and its lower bound `SMALLEST_NORMAL_16`.
 *
 * Mutates: `target`.
 */
export function quantiseRows4(
  values: Float32Array,
  width: number,
  target: QuantisedRows,
  scaleType: FloatType = 'float32',
): void {
  const rows = values.length / width;
  const blocks = blockCount(width);
  const zeroPointBytes = Math.ceil(blocks / 2);
  const { codes, scales, zeroPoints } = target;
  const block = new Float64Array(QUANTISATION_BLOCK);
  const fit = { inverseStep: 0, scale: 0, zeroPoint: ZERO_POINT_4 };
  for (let row = 0; row < rows; row++) {
    // Unused halves of the last byte hold the middle code.
    const zeroPointStart = row * zeroPointBytes;
    zeroPoints.fill(ZERO_POINT_4 * 17, zeroPointStart, zeroPointStart + zeroPointBytes);
    for (let column = 0; column < blocks; column++) {
      const start = row * width + column * QUANTISATION_BLOCK;
      const count = Math.min(QUANTISATION_BLOCK, (row + 1) * width - start);
      block.fill(0);
      for (let i = 0; i < count; i++) block[i] = values[start + i]!;
      fitBlock4(block, fit);
      if (scaleType === 'float16' && fit.scale > 0) {
        if (fit.scale < SMALLEST_NORMAL_16) fit.inverseStep = 1 / SMALLEST_NORMAL_16;
        fit.scale = Math.max(Math.f16round(fit.scale), SMALLEST_NORMAL_16);
      }
      const at = row * blocks + column;
      scales[at] = fit.scale;
      const shift = (column & 1) * 4;
      const zeroPointAt = zeroPointStart + (column >> 1);
      zeroPoints[zeroPointAt] = (zeroPoints[zeroPointAt]! & ~(15 << shift)) | (fit.zeroPoint << shift);
      const codeStart = (at * QUANTISATION_BLOCK) / 2;
      for (let i = 0; i < QUANTISATION_BLOCK; i += 2) {
        const low = code4(block[i]!, fit.inverseStep, fit.zeroPoint);
        const high = code4(block[i + 1]!, fit.inverseStep, fit.zeroPoint);
        codes[codeStart + i / 2] = low | (high << 4);
      }
    }
  }
}

/** Largest scales are rounded up, so no code has to be cut off. */
function toScale16(exact: number): number {
  return exact === 0 ? 0 : Math.max(roundUpToFloat16(exact), SMALLEST_NORMAL_16);
}

function toScale32(exact: number): number {
  return exact < SMALLEST_NORMAL ? 0 : Math.fround(exact);
}

interface BlockFit {
  /** One over the step with which values are rounded to codes. */
  inverseStep: number;
  /** What a code is multiplied with afterwards: the best one for those codes, not quite the step. */
  scale: number;
  zeroPoint: number;
}

/**
 * For codes q (zero point taken off) and values x, the scale of least squared error is sum(xq) / sum(qq), and
 * that error is sum(xx) - sum(xq)^2 / sum(qq): so the best candidate has the largest sum(xq)^2 / sum(qq).
 *
 * Mutates: `fit`.
 */
function fitBlock4(block: Float64Array, fit: BlockFit): void {
  let smallest = 0;
  let largest = 0;
  for (let i = 0; i < QUANTISATION_BLOCK; i++) {
    const value = block[i]!;
    if (value < smallest) smallest = value;
    if (value > largest) largest = value;
  }
  const span = largest - smallest;
  const zeroPoint = span === 0 ? ZERO_POINT_4 : Math.round((LARGEST_CODE_4 * -smallest) / span);
  fit.inverseStep = 0;
  fit.scale = 0;
  fit.zeroPoint = zeroPoint;
  let bestGain = 0;
  for (let candidate = 0; span > 0 && candidate < STEP_SHARES.length; candidate++) {
    const inverseStep = LARGEST_CODE_4 / (span * STEP_SHARES[candidate]!);
    let products = 0;
    let squares = 0;
    for (let i = 0; i < QUANTISATION_BLOCK; i++) {
      const value = block[i]!;
      const q = code4(value, inverseStep, zeroPoint) - zeroPoint;
      products += value * q;
      squares = (squares + q * q) | 0;
    }
    const gain = squares === 0 ? 0 : (products * products) / squares;
    if (gain > bestGain) {
      bestGain = gain;
      fit.inverseStep = inverseStep;
      fit.scale = Math.fround(products / squares);
    }
  }
}

/** The nearest code. Half a step is added before the fraction is dropped; the sum is clamped to 0 and 15. */
function code4(value: number, inverseStep: number, zeroPoint: number): number {
  const code = (value * inverseStep + zeroPoint + 0.5) | 0;
  // Twice as fast here as Math.min and Math.max.
  if (code < 0) return 0;
  if (code > LARGEST_CODE_4) return LARGEST_CODE_4;
  return code;
}
