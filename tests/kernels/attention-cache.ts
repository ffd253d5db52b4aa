// A key and value cache in the layout of the kernels: filled with garbage before the first token, and read back by positions.

import type { ElementArray } from '@ortler/onnxruntime';
import { toCodes } from './float32.ts';

export type CacheType = 'float32' | 'float16' | 'int8';

const GROUP = 16;
const SCALE_BYTES = 4;

export interface CacheShape {
  readonly type: CacheType;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly capacity: number;
}

/** Elements of the cache's last dimension. */
export function rowLength({ type, headSize }: CacheShape): number {
  return channelsOf(headSize) + (type === 'int8' ? SCALE_BYTES : 0);
}

function channelsOf(headSize: number): number {
  return Math.ceil(headSize / GROUP) * GROUP;
}

export function cacheLength(shape: CacheShape, batch: number): number {
  return batch * shape.kvHeads * shape.capacity * rowLength(shape);
}

/** Every number in it is NaN; in int8 every scale. */
export function garbageCache(shape: CacheShape, batch: number): ElementArray {
  const length = cacheLength(shape, batch);
  if (shape.type === 'float32') return new Float32Array(length).fill(Number.NaN);
  return shape.type === 'float16' ? new Uint16Array(length).fill(0x7e00) : new Int8Array(length).fill(-1);
}

/** The numbers that a cache holds for `x`, which is a key or value of one token and head. */
export function asCached(type: CacheType, x: Float32Array): Float64Array {
  if (type === 'float32') return Float64Array.from(x);
  if (type === 'float16') return Float64Array.from(x, value => Math.f16round(value));
  const { codes, scale } = toCodes(x);
  return Float64Array.from(codes, code => code * scale);
}

export interface CachePlace {
  readonly sequence: number;
  readonly head: number;
  readonly position: number;
}

/** What the memory of keys holds there. */
export function readKey(shape: CacheShape, keys: ElementArray, place: CachePlace): Float64Array {
  const channels = channelsOf(shape.headSize);
  const lane = place.position % GROUP;
  const group = GROUP * rowLength(shape);
  const first = startOf(shape, place) + Math.floor(place.position / GROUP) * group;
  const values = Array.from({ length: shape.headSize }, (_, i) => keys[first + i * GROUP + lane] as number);
  return decode(shape, keys, values, first + GROUP * channels + lane * SCALE_BYTES);
}

/** What the memory of values holds there. */
export function readValue(shape: CacheShape, values: ElementArray, place: CachePlace): Float64Array {
  const first = startOf(shape, place) + place.position * rowLength(shape);
  const numbers = Array.from({ length: shape.headSize }, (_, i) => values[first + i] as number);
  return decode(shape, values, numbers, first + channelsOf(shape.headSize));
}

function startOf(shape: CacheShape, { sequence, head }: CachePlace): number {
  return (sequence * shape.kvHeads + head) * shape.capacity * rowLength(shape);
}

function decode(
  { type }: CacheShape,
  memory: ElementArray,
  numbers: readonly number[],
  scaleAt: number,
): Float64Array {
  if (type === 'float32') return Float64Array.from(numbers);
  if (type === 'float16') return Float64Array.from(new Float16Array(Uint16Array.from(numbers).buffer));
  const scale = new DataView(memory.buffer, memory.byteOffset).getFloat32(scaleAt, true);
  return Float64Array.from(numbers, code => code * scale);
}
