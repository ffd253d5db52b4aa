// A key and value cache in the layout of the kernels: filled with garbage before the first token, and read back by positions.

import type { ElementArray } from '@ortler/onnxruntime';
import { hadamard, toCodes } from './float32.ts';

export type CacheType = 'float32' | 'float16' | 'int8';

/** Tokens of an int8 cache that lie side by side, and keys of all caches. */
export const GROUP = 16;
/** Codes that an instruction multiplies together: channels of a key, tokens of a channel of values. */
const QUAD = 4;
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

/** Channels of a head in the cache. */
export function channelsOf(headSize: number): number {
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

/** The numbers that a cache holds for a key of one token and head; in int8 those of its Hadamard transform, for all channels. */
export function cachedKey(type: CacheType, x: Float32Array): Float64Array {
  return type === 'int8' ? asCached(type, hadamard(x, channelsOf(x.length))) : asCached(type, x);
}

/** The numbers that a cache holds for `x`, a value of one token and head. */
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
  const lane = place.position % GROUP;
  const first = startOfGroup(shape, place);
  const at = (i: number): number => keys[first + i] as number;
  if (shape.type !== 'int8')
    return decode(
      shape.type,
      numbersOf(shape.headSize, i => at(i * GROUP + lane)),
    );
  const codes = numbersOf(channelsOf(shape.headSize), i => {
    const byte = at(Math.floor(i / QUAD) * QUAD * GROUP + lane * QUAD + (i % QUAD));
    return (byte & 0xff) - 128;
  });
  return scaled(codes, scaleAt(shape, keys, place));
}

/** What the memory of values holds there. */
export function readValue(shape: CacheShape, values: ElementArray, place: CachePlace): Float64Array {
  const { headSize, type } = shape;
  const lane = place.position % GROUP;
  const first = startOfGroup(shape, place);
  const at = (i: number): number => values[first + i] as number;
  if (type !== 'int8')
    return decode(
      type,
      numbersOf(headSize, i => at(lane * rowLength(shape) + i)),
    );
  const quad = Math.floor(lane / QUAD) * QUAD * channelsOf(headSize);
  const codes = numbersOf(headSize, i => at(quad + i * QUAD + (lane % QUAD)));
  return scaled(codes, scaleAt(shape, values, place));
}

function startOfGroup(shape: CacheShape, { sequence, head, position }: CachePlace): number {
  const start = (sequence * shape.kvHeads + head) * shape.capacity;
  return (start + Math.floor(position / GROUP) * GROUP) * rowLength(shape);
}

function numbersOf(count: number, at: (index: number) => number): number[] {
  return Array.from({ length: count }, (_, i) => at(i));
}

function decode(type: 'float32' | 'float16', numbers: readonly number[]): Float64Array {
  if (type === 'float32') return Float64Array.from(numbers);
  return Float64Array.from(new Float16Array(Uint16Array.from(numbers).buffer));
}

/** Of an int8 cache: the scales of a group's tokens stand after its codes. */
function scaleAt(shape: CacheShape, memory: ElementArray, place: CachePlace): number {
  const codes = GROUP * channelsOf(shape.headSize);
  const offset = startOfGroup(shape, place) + codes + (place.position % GROUP) * SCALE_BYTES;
  return new DataView(memory.buffer, memory.byteOffset).getFloat32(offset, true);
}

function scaled(codes: readonly number[], scale: number): Float64Array {
  return Float64Array.from(codes, code => code * scale);
}
