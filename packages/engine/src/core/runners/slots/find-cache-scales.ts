// Scales of the int8 KV cache (static quantisation per channel, symmetric), found when a model is loaded: some tokens are
// computed, and the largest magnitude of each channel of keys and values, times a headroom, is quantised to 127. Everything
// here is fixed, so that the same model has the same scales in every process.

import { KV_PARTS, type KvPart } from '../../../graph-contract.ts';

export interface CacheChannels {
  readonly layerCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
}

/**
 * How much larger than in calibration a magnitude may be before it is clipped. The quantisation error grows with it: at most
 * half of `HEADROOM / 127` of the largest magnitude seen.
 */
const HEADROOM = 2;

const LARGEST_INT8 = 127;

/** Scales are powers of this: a difference in the last bits of a magnitude, as between CPUs, rarely changes one. */
const GRID = 2 ** (1 / 8);

/** No channel of a head counts as quieter than this share of its loudest: it may only have been quiet in calibration. */
const QUIET_SHARE = 1 / 64;

/** Where the first pass starts: keys and values of most models lie within 127 times these. */
const FIRST_SCALES: Readonly<Record<KvPart, number>> = { key: 0.25, value: 0.05 };

/** Tokens of a sequence of calibration. */
const SEQUENCE_LENGTH = 96;
/** Sequences in each pass: what attends to rounded keys is itself a little off, so the last pass starts from good scales. */
const SEQUENCES_BY_PASS = [1, 1, 4] as const;

/** Every so many tokens repeat an earlier one: heads that look for repetitions find some. */
const REPEAT_PERIOD = 3;

/** Start of the sequence of token ids; any odd number would do. */
const SEED = 0x9e3779b1;

/** Rows of scales: for each layer one of keys and one of values. Shape: `[2 * layerCount, kvHeadCount * headSize]`. */
export function firstScales(channels: CacheChannels): Float32Array {
  const width = channels.kvHeadCount * channels.headSize;
  const scales = new Float32Array(2 * channels.layerCount * width);
  for (let row = 0; row < 2 * channels.layerCount; row++)
    scales.fill(FIRST_SCALES[KV_PARTS[row % 2]!], row * width, (row + 1) * width);
  return scales;
}

/**
 * Computes a sequence from its first token on with the scales as they are. Gives the new keys and values over their scales.
 * Shape of each row: `[tokens, kvHeadCount * headSize]`.
 */
export type ComputeScaled = (tokenIds: Int32Array) => Promise<readonly Float32Array[]>;

/**
 * Sets `scales` to what fits the model. All sequences begin differently: the first token of a context is what attention falls
 * back on, and has by far the largest keys in many models.
 *
 * Mutates: `scales`. Throws: what `compute` throws.
 */
export async function findCacheScales(
  scales: Float32Array,
  channels: CacheChannels,
  { vocabSize, contextLength }: { readonly vocabSize: number; readonly contextLength: number },
  compute: ComputeScaled,
): Promise<void> {
  const length = Math.min(SEQUENCE_LENGTH, contextLength);
  const largest = new Float64Array(scales.length);
  for (const sequenceCount of SEQUENCES_BY_PASS) {
    largest.fill(0);
    for (let sequence = 0; sequence < sequenceCount; sequence++)
      takeLargest(largest, scales, await compute(calibrationTokens(sequence, length, vocabSize)), channels);
    for (let row = 0; row < 2 * channels.layerCount; row++) setRow(scales, largest, row, channels);
  }
}

/**
 * Begins with a token from one end of the vocabulary, where models have their marks of a beginning, and goes on with tokens
 * from all over it.
 */
export function calibrationTokens(sequence: number, length: number, vocabSize: number): Int32Array {
  const tokenIds = new Int32Array(length);
  let state = SEED * (2 * sequence + 1);
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const drawn = Math.floor((state / 2 ** 32) * vocabSize);
    tokenIds[i] = i > REPEAT_PERIOD && i % REPEAT_PERIOD === 0 ? tokenIds[drawn % i]! : drawn;
  }
  const edge = Math.floor(sequence / 2) % vocabSize;
  tokenIds[0] = sequence % 2 === 0 ? edge : vocabSize - 1 - edge;
  return tokenIds;
}

/**
 * Mutates: `largest`, which is in the unit of keys and values. Numbers that are none change nothing. Two channels of a key
 * that are rotated together both count as long as the pair is: that is what each may become at other positions.
 */
function takeLargest(
  largest: Float64Array,
  scales: Float32Array,
  rows: readonly Float32Array[],
  { headSize }: CacheChannels,
): void {
  const width = scales.length / rows.length;
  const half = headSize / 2;
  for (const [row, scaled] of rows.entries()) {
    const areKeys = row % 2 === 0;
    const start = row * width;
    for (let i = 0; i < scaled.length; i++) {
      const channel = start + (i % width);
      const other = i % headSize < half ? i + half : i - half;
      const length = areKeys ? Math.hypot(scaled[i]!, scaled[other]!) : Math.abs(scaled[i]!);
      const magnitude = length * scales[channel]!;
      if (magnitude > largest[channel]! && magnitude < Number.POSITIVE_INFINITY) largest[channel] = magnitude;
    }
  }
}

/** Mutates: a row of `scales`. */
function setRow(
  scales: Float32Array,
  largest: Float64Array,
  row: number,
  { kvHeadCount, headSize }: CacheChannels,
): void {
  for (let head = 0; head < kvHeadCount; head++) {
    const start = (row * kvHeadCount + head) * headSize;
    const channels = largest.subarray(start, start + headSize);
    const loudest = channels.reduce((most, magnitude) => Math.max(most, magnitude), 0);
    for (let i = 0; i < headSize; i++)
      scales[start + i] = toScale(Math.max(channels[i]!, loudest * QUIET_SHARE));
  }
}

/** The next power of the grid. A head that is silent gets 1, with which nothing is rounded to much. */
function toScale(magnitude: number): number {
  if (magnitude === 0) return 1;
  return GRID ** Math.ceil(Math.log((HEADROOM * magnitude) / LARGEST_INT8) / Math.log(GRID));
}
