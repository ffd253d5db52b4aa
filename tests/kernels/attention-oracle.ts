// Attention of one sequence in float64 over a cache that is rounded exactly as the kernels round it: norms and rotation in
// float32, then the type of the cache.

import { asCached } from './attention-cache.ts';
import { type AttentionShape, EPSILON, qkvWidth, randomConstants } from './attention-operator.ts';
import { normalise } from './float32.ts';
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
    headsOf(0, heads).map(h => prepare(head(t, h), t, constants.queryNorm).map(value => value * scale)),
  );
  const cachedKeys = positions.map(t =>
    headsOf(heads, heads + kvHeads).map(h => asCached(type, prepare(head(t, h), t, constants.keyNorm))),
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
        keys: seen.keys.map(key => key[kvHead]!),
        values: seen.values.map(value => value[kvHead]!),
      });
      values.set(sum.values, (t * heads + h) * headSize);
      bounds.fill(sum.bound, (t * heads + h) * headSize, (t * heads + h + 1) * headSize);
    }
  }
  return { values, bounds, cachedKeys, cachedValues };
}

interface Seen {
  readonly keys: readonly Float64Array[];
  readonly values: readonly Float64Array[];
}

function attend(
  { softcap, headSize }: AttentionShape,
  query: Float32Array,
  sink: number | undefined,
  { keys, values }: Seen,
): { readonly values: Float64Array; readonly bound: number } {
  let magnitude = 0;
  let largest = 0;
  const scores = keys.map(key => {
    let score = 0;
    let terms = 0;
    for (let i = 0; i < headSize; i++) {
      score += query[i]! * key[i]!;
      terms += Math.abs(query[i]! * key[i]!);
    }
    magnitude = Math.max(magnitude, terms);
    return softcap > 0 ? softcap * Math.tanh(score / softcap) : score;
  });
  const peak = Math.max(...scores, sink ?? Number.NEGATIVE_INFINITY);
  let total = sink === undefined ? 0 : Math.exp(sink - peak);
  const out = new Float64Array(headSize);
  for (const [index, score] of scores.entries()) {
    const weight = Math.exp(score - peak);
    total += weight;
    for (let i = 0; i < headSize; i++) {
      out[i]! += weight * values[index]![i]!;
      largest = Math.max(largest, Math.abs(values[index]![i]!));
    }
  }
  const bound = (SCORE_TOLERANCE * (magnitude + softcap) + SUM_TOLERANCE) * largest;
  return { values: out.map(sum => sum / total), bound };
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
