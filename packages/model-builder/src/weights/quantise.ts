// Block-wise weight-only quantisation (q4 and q8) of matrix rows, in the layout of ONNX Runtime's MatMulNBits.
//
// A row is split into blocks of 32 or 64 elements, the last one padded. Each block has a scale (float32, or a value that
// float16 can represent), and
//   value ~ scale * (code - zeroPoint)
// with 8-bit codes and the zero point 128 everywhere, or 4-bit codes and the zero point 8 everywhere (symmetric) or one per block.
// Source: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulNBits

import { type FloatType, roundUpToFloat16, SMALLEST_NORMAL_16 } from './float16.ts';

export type CodeBits = 4 | 8;

/** Elements that share a scale. */
export type BlockSize = 32 | 64;

/** How rows are quantised. */
export interface BlockFormat {
  readonly bits: CodeBits;
  readonly blockSize: BlockSize;
  /** Of 4-bit codes: the zero point is 8 everywhere, and scales may be negative. Codes of 8 bits are always symmetric. Default: false. */
  readonly isSymmetric?: boolean;
}

/** Whether blocks have zero points of their own. */
export function hasZeroPoints({ bits, isSymmetric = false }: BlockFormat): boolean {
  return bits === 4 && !isSymmetric;
}

/** Zero point of 8-bit codes, the default of MatMulNBits. */
const ZERO_POINT_8 = 128;

/** The smallest normal float32. Smaller scales have too few significant bits, so their blocks become zeros. */
const SMALLEST_NORMAL = 2 ** -126;

/** Code and zero point of padding, of blocks of zeros and of symmetric codes; the default of MatMulNBits. */
const ZERO_POINT_4 = 8;

const LARGEST_CODE_4 = 15;

/**
 * Candidate step sizes of a 4-bit block, relative to the step that spans its smallest and largest value. Smaller steps clip
 * the extremes and represent the rest better. Six candidates come within 2 % of the error of forty.
 */
const STEP_SHARES = [1, 1.03, 0.95, 0.9, 0.85, 0.8] as const;

/** Candidates per pass: independent sums that the CPU can compute in parallel and keep in registers. */
const STEPS_PER_PASS = 3;

/**
 * Range of codes before clamping, with a margin: the smallest step gives `LARGEST_CODE_4 * (1 - 1 / 0.8)` at the low end and
 * the same excess above the largest code.
 */
const UNCLAMPED = { lowest: -8, count: 32 } as const;

/**
 * Clamped codes minus the zero point. A lookup table, because the branches of clamping are unpredictable and take half as long
 * again.
 *
 * Shape: `[zero points, unclamped codes]`.
 */
const CODES_OFF_ZERO = Float64Array.from({ length: 16 * UNCLAMPED.count }, (_, i) => {
  const code = (i % UNCLAMPED.count) + UNCLAMPED.lowest;
  return Math.max(0, Math.min(LARGEST_CODE_4, code)) - Math.floor(i / UNCLAMPED.count);
});

/** Output buffers of the functions below, which fill them from the first element, and the format that they are for. */
export interface QuantisedRows extends BlockFormat {
  /** Shape: `[rows, blocks, blockSize * bits / 8]`; of two 4-bit codes in a byte the first is the low half. */
  readonly codes: Uint8Array;
  /** Shape: `[rows, blocks]`. */
  readonly scales: Float32Array<ArrayBuffer>;
  /** Shape: `[rows, ceil(blocks / 2)]`, packed like codes; empty where blocks have none. */
  readonly zeroPoints: Uint8Array;
}

/** Blocks in a row of `width` elements. */
export function blockCount(width: number, blockSize: BlockSize): number {
  return Math.ceil(width / blockSize);
}

/** Arrays for `rows` rows of `width` elements. */
export function allocateQuantisedRows(rows: number, width: number, format: BlockFormat): QuantisedRows {
  const { bits, blockSize } = format;
  const blocks = blockCount(width, blockSize);
  return {
    ...format,
    codes: new Uint8Array((rows * blocks * blockSize * bits) / 8),
    scales: new Float32Array(rows * blocks),
    zeroPoints: new Uint8Array(hasZeroPoints(format) ? rows * Math.ceil(blocks / 2) : 0),
  };
}

/**
 * Quantises `values` (`[rows, width]`) to 8 bits. The error of an element is at most half a scale: the largest magnitude of
 * its block divided by 254. A float16 scale is up to a thousandth larger, and at least `SMALLEST_NORMAL_16`.
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
  const { codes, scales, blockSize } = target;
  const blocks = blockCount(width, blockSize);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const start = row * width + block * blockSize;
      const end = Math.min(start + blockSize, (row + 1) * width);
      let largest = 0;
      for (let i = start; i < end; i++) {
        const magnitude = Math.abs(values[i]!);
        if (magnitude > largest) largest = magnitude;
      }
      const exact = largest / 127;
      const scale = scaleType === 'float32' ? toScale32(exact) : toScale16(exact);
      const inverse = scale === 0 ? 0 : 1 / scale;
      const at = row * blocks + block;
      const codeStart = at * blockSize;
      scales[at] = scale;
      for (let i = start; i < end; i++) {
        // The sum is positive, so truncation after adding 0.5 rounds to nearest.
        codes[codeStart + i - start] = (values[i]! * inverse + ZERO_POINT_8 + 0.5) | 0;
      }
      codes.fill(ZERO_POINT_8, codeStart + end - start, codeStart + blockSize);
    }
  }
}

/**
 * Quantises `values` (`[rows, width]`) to 4 bits, with the scale and zero point of least squared error per block among a few
 * candidates. The error of a block never exceeds that of plain min-max rounding, except for the rounding of a float16 scale
 * and its lower bound `SMALLEST_NORMAL_16`.
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
  const { codes, scales, zeroPoints, blockSize, isSymmetric = false } = target;
  const fitBlock = isSymmetric ? fitSymmetricBlock4 : fitBlock4;
  const blocks = blockCount(width, blockSize);
  const zeroPointBytes = Math.ceil(blocks / 2);
  const block = new Float64Array(blockSize);
  const fit = { inverseStep: 0, scale: 0, zeroPoint: ZERO_POINT_4, gain: 0 };
  for (let row = 0; row < rows; row++) {
    // Unused nibbles of the last byte hold the default zero point.
    const zeroPointStart = row * zeroPointBytes;
    zeroPoints.fill(ZERO_POINT_4 * 17, zeroPointStart, zeroPointStart + zeroPointBytes);
    for (let column = 0; column < blocks; column++) {
      const start = row * width + column * blockSize;
      const count = Math.min(blockSize, (row + 1) * width - start);
      if (count < blockSize) block.fill(0);
      for (let i = 0; i < count; i++) block[i] = values[start + i]!;
      fitBlock(block, fit);
      if (scaleType === 'float16' && fit.scale !== 0) roundScale(fit);
      const at = row * blocks + column;
      scales[at] = fit.scale;
      if (!isSymmetric) {
        const shift = (column & 1) * 4;
        const zeroPointAt = zeroPointStart + (column >> 1);
        zeroPoints[zeroPointAt] = (zeroPoints[zeroPointAt]! & ~(15 << shift)) | (fit.zeroPoint << shift);
      }
      const codeStart = (at * blockSize) / 2;
      for (let i = 0; i < blockSize; i += 2) {
        const low = code4(block[i]!, fit.inverseStep, fit.zeroPoint);
        const high = code4(block[i + 1]!, fit.inverseStep, fit.zeroPoint);
        codes[codeStart + i / 2] = low | (high << 4);
      }
    }
  }
}

/** Rounds the scale to float16, with its lower bound. Mutates: `fit`. */
function roundScale(fit: BlockFit): void {
  const magnitude = Math.abs(fit.scale);
  const sign = Math.sign(fit.scale);
  if (magnitude < SMALLEST_NORMAL_16) fit.inverseStep = sign / SMALLEST_NORMAL_16;
  fit.scale = sign * Math.max(Math.f16round(magnitude), SMALLEST_NORMAL_16);
}

/** Rounds the scale up, so that no code has to be clamped. */
function toScale16(exact: number): number {
  return exact === 0 ? 0 : Math.max(roundUpToFloat16(exact), SMALLEST_NORMAL_16);
}

function toScale32(exact: number): number {
  return exact < SMALLEST_NORMAL ? 0 : Math.fround(exact);
}

interface BlockFit {
  /** Reciprocal of the step that rounds values to codes. */
  inverseStep: number;
  /** Scale of the codes: optimal for these codes, so slightly different from the step. */
  scale: number;
  zeroPoint: number;
  /** Reduction of the squared error, compared with codes that are all zero. */
  gain: number;
}

/**
 * For codes q (minus the zero point) and values x, the scale of least squared error is sum(xq) / sum(qq), with the error
 * sum(xx) - sum(xq)^2 / sum(qq). So the best candidate has the largest sum(xq)^2 / sum(qq).
 *
 * Mutates: `fit`.
 */
function fitBlock4(block: Float64Array, fit: BlockFit): void {
  let smallest = 0;
  let largest = 0;
  for (let i = 0; i < block.length; i++) {
    const value = block[i]!;
    if (value < smallest) smallest = value;
    if (value > largest) largest = value;
  }
  const span = largest - smallest;
  const zeroPoint = span === 0 ? ZERO_POINT_4 : Math.round((LARGEST_CODE_4 * -smallest) / span);
  fit.inverseStep = 0;
  fit.scale = 0;
  fit.zeroPoint = zeroPoint;
  fit.gain = 0;
  if (span === 0) return;
  for (let first = 0; first < STEP_SHARES.length; first += STEPS_PER_PASS) trySteps(block, span, first, fit);
}

/**
 * With the zero point in the middle: the value of largest magnitude gets the code 0, which stands for -8 steps, so that the scale has the
 * opposite sign. Mutates: `fit`.
 */
function fitSymmetricBlock4(block: Float64Array, fit: BlockFit): void {
  let extreme = 0;
  for (let i = 0; i < block.length; i++) if (Math.abs(block[i]!) > Math.abs(extreme)) extreme = block[i]!;
  fit.inverseStep = 0;
  fit.scale = 0;
  fit.zeroPoint = ZERO_POINT_4;
  fit.gain = 0;
  if (extreme === 0) return;
  const span = (LARGEST_CODE_4 * extreme) / -ZERO_POINT_4;
  for (let first = 0; first < STEP_SHARES.length; first += STEPS_PER_PASS) trySteps(block, span, first, fit);
}

/** Tries candidates. Each sum adds in the same order as for one candidate, so results do not change. Mutates: `fit`. */
function trySteps(block: Float64Array, span: number, first: number, fit: BlockFit): void {
  const { zeroPoint } = fit;
  const row = zeroPoint * UNCLAMPED.count - UNCLAMPED.lowest;
  const inverseA = LARGEST_CODE_4 / (span * STEP_SHARES[first]!);
  const inverseB = LARGEST_CODE_4 / (span * STEP_SHARES[first + 1]!);
  const inverseC = LARGEST_CODE_4 / (span * STEP_SHARES[first + 2]!);
  let productsA = 0;
  let productsB = 0;
  let productsC = 0;
  let squaresA = 0;
  let squaresB = 0;
  let squaresC = 0;
  for (let i = 0; i < block.length; i++) {
    const value = block[i]!;
    const a = CODES_OFF_ZERO[row + unclamped4(value, inverseA, zeroPoint)]!;
    const b = CODES_OFF_ZERO[row + unclamped4(value, inverseB, zeroPoint)]!;
    const c = CODES_OFF_ZERO[row + unclamped4(value, inverseC, zeroPoint)]!;
    productsA += value * a;
    productsB += value * b;
    productsC += value * c;
    squaresA += a * a;
    squaresB += b * b;
    squaresC += c * c;
  }
  keepBest(fit, inverseA, productsA, squaresA);
  keepBest(fit, inverseB, productsB, squaresB);
  keepBest(fit, inverseC, productsC, squaresC);
}

/** Mutates: `fit`. */
function keepBest(fit: BlockFit, inverseStep: number, products: number, squares: number): void {
  const gain = squares === 0 ? 0 : (products * products) / squares;
  if (gain <= fit.gain) return;
  fit.gain = gain;
  fit.inverseStep = inverseStep;
  fit.scale = Math.fround(products / squares);
}

/** The nearest code without clamping: adds 0.5 and truncates. */
function unclamped4(value: number, inverseStep: number, zeroPoint: number): number {
  return (value * inverseStep + zeroPoint + 0.5) | 0;
}

/** The nearest code, clamped. */
function code4(value: number, inverseStep: number, zeroPoint: number): number {
  const code = unclamped4(value, inverseStep, zeroPoint);
  // Branches are twice as fast here as Math.min and Math.max.
  if (code < 0) return 0;
  if (code > LARGEST_CODE_4) return LARGEST_CODE_4;
  return code;
}
