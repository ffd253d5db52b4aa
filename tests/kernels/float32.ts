// Float32 arithmetic of the kernels wherever its roundings decide a code of 8 bits: their results are exact, and what is summed
// afterwards has a tolerance.

/** Lanes of a vector of the kernels. */
const LANES = 16;

/** The float32 nearest to a * b + c, rounded once. */
export function fusedMultiplyAdd(a: number, b: number, c: number): number {
  // The product of two float32 numbers is exact in float64; the sum is rounded to odd, so that the second rounding is right.
  const product = a * b;
  const sum = product + c;
  const part = sum - product;
  const error = product - (sum - part) + (c - part);
  if (error === 0) return Math.fround(sum);
  const bits = new BigInt64Array(1);
  const float = new Float64Array(bits.buffer);
  float[0] = sum;
  if ((bits[0]! & 1n) === 0n) bits[0]! += error > 0 === sum > 0 ? 1n : -1n;
  return Math.fround(float[0]);
}

/** The factor of an RMS norm, with the sum of squares in the order of the kernels. */
export function inverseRms(x: Float32Array, epsilon: number): number {
  const sums = new Float32Array(LANES);
  for (const [i, value] of x.entries()) sums[i % LANES] = fusedMultiplyAdd(value, value, sums[i % LANES]!);
  for (let half = LANES / 2; half >= 1; half /= 2) for (let i = 0; i < half; i++) sums[i]! += sums[i + half]!;
  const mean = Math.fround(Math.fround(sums[0]! / x.length) + Math.fround(epsilon));
  return Math.fround(1 / Math.fround(Math.sqrt(mean)));
}

/** RMS norm of a row. */
export function normalise(x: Float32Array, weight: Float32Array, epsilon: number): Float32Array {
  const factor = inverseRms(x, epsilon);
  return x.map((value, i) => Math.fround(value * factor) * weight[i]!);
}

/** Half to even, as a float32 addition rounds. */
export function roundHalfEven(x: number): number {
  const rounded = Math.round(x);
  return Math.abs(x % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

export interface Codes {
  readonly codes: Int8Array;
  readonly scale: number;
}

/** The reciprocal of smaller numbers is infinite in float32. */
const SMALLEST_PEAK = Math.fround(1e-36);

/** Numbers with one scale in 8 bits: the largest magnitude is 127. */
export function toCodes(x: Float32Array): Codes {
  const peak = x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const inverse = peak > SMALLEST_PEAK ? Math.fround(127 / peak) : 0;
  return {
    codes: Int8Array.from(x, value => roundHalfEven(Math.fround(value * inverse))),
    scale: Math.fround(peak / 127),
  };
}

/** How many channels a Hadamard transform takes together: the largest power of two that divides `channels`. */
export function transformedChannels(channels: number): number {
  return channels & -channels;
}

/** Hadamard transform of a row, filled with zeros to `channels`, without its factor. */
export function hadamard(x: Float32Array, channels: number): Float32Array {
  const y = new Float32Array(channels);
  y.set(x);
  for (let distance = 1; distance < transformedChannels(channels); distance *= 2)
    for (let i = 0; i < channels; i++) {
      if ((i & distance) !== 0) continue;
      const [u, v] = [y[i]!, y[i + distance]!];
      y[i] = u + v;
      y[i + distance] = u - v;
    }
  return y;
}
