// Quantisation of one block of 32 weights that share a scale, and in some formats a minimum, both in float16.
//
//   value ~ scale * (code - offset)        without a minimum; the offset is half of the codes
//   value ~ scale * code + minimum         with one
//
// Candidates shrink the range of the codes step by step; each gets the scale (and minimum) of least squared error for its codes.

import { BLOCK_INPUTS, codeOffset, type QuantisedFormat, WEIGHT_FORMATS } from '@ortler/kernels';
import { roundUpToFloat16 } from './float16.ts';

/** Range of the codes as a share of the range of the values: a narrower one clips the ends and resolves the middle better. */
const RANGE_SHARES = [1, 0.96, 0.92, 0.88, 0.84, 0.8] as const;

/** Codes of 8 bits are so fine that clipping never pays. */
const FINE_BITS = 8;

export interface FittedBlock {
  /** Unsigned. Shape: `[32]`. */
  readonly codes: Uint8Array;
  /** A value of float16. */
  scale: number;
  /** A value of float16; 0 in formats without minimums. */
  minimum: number;
}

export function createFittedBlock(): FittedBlock {
  return { codes: new Uint8Array(BLOCK_INPUTS), scale: 0, minimum: 0 };
}

/**
 * Fits `values[from, from + 32)`. Mutates: `fitted`.
 *
 * The squared error is never above that of rounding between the smallest and the largest value, but for the rounding of the
 * scale to float16.
 */
export function fitBlock(
  format: QuantisedFormat,
  values: Float32Array,
  from: number,
  fitted: FittedBlock,
): void {
  if (WEIGHT_FORMATS[format].hasMinimum) fitWithMinimum(format, values, from, fitted);
  else fitCentred(format, values, from, fitted);
}

/** Codes of a candidate, before it is known to be the best. */
const TRIED = new Uint8Array(BLOCK_INPUTS);

function fitWithMinimum(
  format: QuantisedFormat,
  values: Float32Array,
  from: number,
  fitted: FittedBlock,
): void {
  const maxCode = 2 ** WEIGHT_FORMATS[format].bits - 1;
  let lowest = values[from]!;
  let highest = lowest;
  for (let i = 1; i < BLOCK_INPUTS; i++) {
    const value = values[from + i]!;
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  const span = highest - lowest;
  fitted.codes.fill(0);
  fitted.scale = 0;
  fitted.minimum = Math.f16round(lowest);
  if (Math.f16round(span / maxCode) === 0) return;
  let leastError = Number.POSITIVE_INFINITY;
  for (const share of RANGE_SHARES) {
    const first = lowest + ((1 - share) / 2) * span;
    const inverse = maxCode / (span * share);
    let sumCodes = 0;
    let sumSquares = 0;
    let sumValues = 0;
    let sumProducts = 0;
    for (let i = 0; i < BLOCK_INPUTS; i++) {
      const value = values[from + i]!;
      const code = clampCode((value - first) * inverse + 0.5, maxCode);
      sumCodes += code;
      sumSquares += code * code;
      sumValues += value;
      sumProducts += value * code;
    }
    const determinant = BLOCK_INPUTS * sumSquares - sumCodes * sumCodes;
    if (determinant <= 0) continue;
    const scale = Math.f16round((BLOCK_INPUTS * sumProducts - sumCodes * sumValues) / determinant);
    if (scale <= 0) continue;
    const minimum = Math.f16round((sumValues - scale * sumCodes) / BLOCK_INPUTS);
    const error = roundTo(values, from, scale, minimum, maxCode);
    if (error >= leastError) continue;
    leastError = error;
    keep(fitted, scale, minimum);
  }
}

function fitCentred(format: QuantisedFormat, values: Float32Array, from: number, fitted: FittedBlock): void {
  const { bits } = WEIGHT_FORMATS[format];
  const offset = codeOffset(format);
  const maxCode = 2 ** bits - 1;
  let extreme = 0;
  for (let i = 0; i < BLOCK_INPUTS; i++) {
    const value = values[from + i]!;
    if (Math.abs(value) > Math.abs(extreme)) extreme = value;
  }
  fitted.codes.fill(offset);
  fitted.scale = 0;
  fitted.minimum = 0;
  if (bits >= FINE_BITS) {
    const scale = roundUpToFloat16(Math.abs(extreme) / (offset - 1));
    if (scale === 0) return;
    roundTo(values, from, scale, -offset * scale, maxCode);
    keep(fitted, scale, 0);
    return;
  }
  let leastError = Number.POSITIVE_INFINITY;
  // The lowest code is one further from zero than the highest, so the extreme value goes there; a scale may be negative.
  for (const share of RANGE_SHARES) {
    const step = (extreme * share) / -offset;
    if (Math.f16round(step) === 0) return;
    let sumSquares = 0;
    let sumProducts = 0;
    for (let i = 0; i < BLOCK_INPUTS; i++) {
      const value = values[from + i]!;
      const code = clampCode(value / step + offset + 0.5, maxCode) - offset;
      sumSquares += code * code;
      sumProducts += value * code;
    }
    if (sumSquares === 0) continue;
    const scale = Math.f16round(sumProducts / sumSquares);
    if (scale === 0) continue;
    const error = roundTo(values, from, scale, -offset * scale, maxCode);
    if (error >= leastError) continue;
    leastError = error;
    keep(fitted, scale, 0);
  }
}

/** Rounds to the nearest codes. Mutates: `TRIED`. Returns the squared error. */
function roundTo(values: Float32Array, from: number, scale: number, first: number, maxCode: number): number {
  const inverse = 1 / scale;
  let error = 0;
  for (let i = 0; i < BLOCK_INPUTS; i++) {
    const value = values[from + i]!;
    const code = clampCode((value - first) * inverse + 0.5, maxCode);
    TRIED[i] = code;
    const difference = value - (code * scale + first);
    error += difference * difference;
  }
  return error;
}

function keep(fitted: FittedBlock, scale: number, minimum: number): void {
  fitted.codes.set(TRIED);
  fitted.scale = scale;
  fitted.minimum = minimum;
}

/** `shifted` is the exact code plus a half. Branches are faster here than Math.min and Math.max. */
function clampCode(shifted: number, maxCode: number): number {
  if (shifted < 0) return 0;
  if (shifted > maxCode) return maxCode;
  return shifted | 0;
}
