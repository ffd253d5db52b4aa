// Attention of one sequence in float64 over a cache that is rounded exactly as the kernels round it: norms and rotation in
// float32, then the type of the cache. With an int8 cache queries and weights are rounded to codes as well.

import { asCached, type CacheType, cachedKey, channelsOf, GROUP } from './attention-cache.ts';
import { type AttentionShape, EPSILON, qkvWidth, randomConstants } from './attention-operator.ts';
import { hadamard, normalise, roundHalfEven, toCodes, transformedChannels } from './float32.ts';
import type { BoundedValues } from './worst-share.ts';

export interface ExpectedAttention extends BoundedValues {
  /** By position and head: what the cache holds. */
  readonly cachedKeys: readonly (readonly Float64Array[])[];
  readonly cachedValues: readonly (readonly Float64Array[])[];
}

/** Float32 scores and sums may be off by their roundings, relative to the magnitudes of their terms. */
const SCORE_TOLERANCE = 1e-6;
const SUM_TOLERANCE = 2e-6;

/** Shape: `qkv` is `[tokens, qkvWidth]`, the tokens at positions 0, 1, 2 and so on. */
export function expectedAttention(shape: AttentionShape, qkv: Float32Array): ExpectedAttention {
  const { heads, kvHeads, headSize, type } = shape;
  const constants = randomConstants(shape);
  const scale = Math.fround(shape.scale ?? Math.fround(1 / Math.fround(Math.sqrt(headSize))));
  const width = qkvWidth(shape);
  const count = qkv.length / width;
  const head = (token: number, index: number): Float32Array =>
    qkv.slice(token * width + index * headSize, token * width + (index + 1) * headSize);
  const prepare = (x: Float32Array, position: number, norm: Float32Array | undefined): Float32Array => {
    const row = norm === undefined ? x : normalise(x, norm, EPSILON);
    return rotate(shape, constants.cosines, constants.sines, row, position);
  };
  const positions = Array.from({ length: count }, (_, position) => position);
  const headsOf = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_, i) => from + i);
  const queries = positions.map(t =>
    headsOf(0, heads).map(h => asMultiplied(type, prepare(head(t, h), t, constants.queryNorm), scale)),
  );
  const cachedKeys = positions.map(t =>
    headsOf(heads, heads + kvHeads).map(h => cachedKey(type, prepare(head(t, h), t, constants.keyNorm))),
  );
  const cachedValues = positions.map(t =>
    headsOf(heads + kvHeads, heads + 2 * kvHeads).map(h => asCached(type, head(t, h))),
  );
  const values = new Float64Array(count * heads * headSize);
  const bounds = new Float64Array(values.length);
  for (const t of positions) {
    const first = shape.window > 0 ? Math.max(0, t + 1 - shape.window) : 0;
    for (let h = 0; h < heads; h++) {
      const kvHead = Math.floor(h / (heads / kvHeads));
      const seen = { keys: cachedKeys.slice(first, t + 1), values: cachedValues.slice(first, t + 1) };
      const sum = attend(shape, queries[t]![h]!, constants.sinks?.[h], {
        first,
        keys: seen.keys.map(key => key[kvHead]!),
        values: seen.values.map(value => value[kvHead]!),
      });
      values.set(sum.values, (t * heads + h) * headSize);
      bounds.set(sum.bounds, (t * heads + h) * headSize);
    }
  }
  return { values, bounds, cachedKeys, cachedValues };
}

/** The numbers that keys are multiplied with. */
function asMultiplied(type: CacheType, query: Float32Array, scale: number): Float64Array {
  if (type !== 'int8') return Float64Array.from(query.map(value => value * scale));
  const channels = channelsOf(query.length);
  const { codes, scale: step } = toCodes(hadamard(query, channels));
  return Float64Array.from(codes, code => (code * step * scale) / transformedChannels(channels));
}

interface Seen {
  /** Position of the first key. */
  readonly first: number;
  readonly keys: readonly Float64Array[];
  readonly values: readonly Float64Array[];
}

function attend(
  { softcap, headSize, type }: AttentionShape,
  query: Float64Array,
  sink: number | undefined,
  { first, keys, values }: Seen,
): { readonly values: Float64Array; readonly bounds: Float64Array } {
  let magnitude = 0;
  let largest = 0;
  const scores = keys.map(key => {
    let score = 0;
    let terms = 0;
    for (let i = 0; i < query.length; i++) {
      score += query[i]! * key[i]!;
      terms += Math.abs(query[i]! * key[i]!);
    }
    magnitude = Math.max(magnitude, terms);
    return softcap > 0 ? softcap * Math.tanh(score / softcap) : score;
  });
  const peak = Math.max(...scores, sink ?? Number.NEGATIVE_INFINITY);
  const weights = scores.map(score => Math.exp(score - peak));
  const total = weights.reduce((sum, weight) => sum + weight, sink === undefined ? 0 : Math.exp(sink - peak));
  const scoreError = SCORE_TOLERANCE * (magnitude + softcap);
  const { multiplied, doubts } =
    type === 'int8' ? roundWeights(weights, first, values, scoreError) : { multiplied: weights, doubts: [] };
  const out = new Float64Array(headSize);
  const bounds = new Float64Array(headSize);
  for (const [index, value] of values.entries()) {
    for (let i = 0; i < headSize; i++) {
      out[i]! += (multiplied[index]! * value[i]!) / total;
      bounds[i]! += ((doubts[index] ?? 0) * Math.abs(value[i]!)) / total;
      largest = Math.max(largest, Math.abs(value[i]!));
    }
  }
  const bound = (scoreError + SUM_TOLERANCE) * largest;
  return { values: out, bounds: bounds.map(doubt => doubt + bound) };
}

/**
 * Weights of an int8 cache: with the scale of their value they are rounded to 0 to 127, with a scale for each group of keys. `doubts`
 * has a step for those so near to the middle of two codes that errors of the scores decide which of them it is.
 */
function roundWeights(
  weights: readonly number[],
  first: number,
  values: readonly Float64Array[],
  scoreError: number,
): { readonly multiplied: readonly number[]; readonly doubts: readonly number[] } {
  // The largest code of a value is 127, unless it is zero.
  const scales = values.map(value => value.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127);
  const peaks: number[] = [];
  const groupOf = (index: number): number => Math.floor((first + index) / GROUP);
  for (const [index, weight] of weights.entries())
    peaks[groupOf(index)] = Math.max(peaks[groupOf(index)] ?? 0, weight * scales[index]!);
  const steps = weights.map((_, index) => peaks[groupOf(index)]! / 127 / scales[index]!);
  const margin = 254 * (scoreError + SUM_TOLERANCE);
  const exact = weights.map((weight, index) => weight / steps[index]!);
  const isZero = (index: number): boolean => scales[index] === 0;
  return {
    multiplied: exact.map((code, index) => (isZero(index) ? 0 : roundHalfEven(code) * steps[index]!)),
    doubts: exact.map((code, index) =>
      isZero(index) || Math.abs((code % 1) - 0.5) > margin ? 0 : steps[index]!,
    ),
  };
}

function rotate(
  { rotary, isInterleaved }: AttentionShape,
  cosines: Float32Array | undefined,
  sines: Float32Array | undefined,
  x: Float32Array,
  position: number,
): Float32Array {
  if (cosines === undefined || sines === undefined) return x;
  const half = rotary / 2;
  const out = x.slice();
  for (let i = 0; i < half; i++) {
    const [first, second] = isInterleaved ? [2 * i, 2 * i + 1] : [i, i + half];
    const [u, v] = [x[first]!, x[second]!];
    const [cosine, sine] = [cosines[position * half + i]!, sines[position * half + i]!];
    out[first] = Math.fround(u * cosine) - Math.fround(v * sine);
    out[second] = Math.fround(v * cosine) + Math.fround(u * sine);
  }
  return out;
}
