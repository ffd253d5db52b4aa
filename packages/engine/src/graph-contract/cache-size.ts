// Lengths of caches and of their rows.

import type { ModelManifest } from './manifest.ts';

/**
 * A cache of a `kernels` graph has room for whole groups of tokens, because those of a group are side by side. Unit: tokens.
 */
export const CACHE_GROUP = 16;

/** Bytes of the float32 scale of a token and head in an int8 cache. */
const SCALE_BYTES = 4;

/**
 * Elements that one token and head take in a cache: in `kernels` graphs the head size rounded up to whole vectors, and in int8 the
 * four bytes of a scale.
 */
export function cacheRowLength({
  variant,
  kvType,
  headSize,
}: Pick<ModelManifest, 'variant' | 'kvType' | 'headSize'>): number {
  const length = variant === 'kernels' ? Math.ceil(headSize / CACHE_GROUP) * CACHE_GROUP : headSize;
  return length + (kvType === 'int8' ? SCALE_BYTES : 0);
}

/**
 * How the cache of a graph on a device is declared: type, and length of a row. WebGPU's provider keeps an int8 cache in tensors of the
 * activations' type, two bytes in each element, and wants whole words of four bytes.
 */
export function deviceCacheRow({ kvType, headSize }: Pick<ModelManifest, 'kvType' | 'headSize'>): {
  readonly type: 'float32' | 'float16';
  readonly length: number;
} {
  if (kvType !== 'int8') return { type: kvType, length: headSize };
  return { type: 'float16', length: cacheRowLength({ variant: 'device-slots', kvType, headSize }) / 2 };
}

/**
 * A cache of a `kernels` graph that is shorter than the sequence is a ring of whole pieces of keys. Source: `PIECE` of
 * `packages/kernels/c/attention.h`. Unit: tokens.
 */
const CACHE_PIECE = 256;

/**
 * How many tokens before the end of a cached prompt another one may depart from it, with window-sized caches, before pieces are needed
 * that were saved when they were overwritten. Unit: tokens.
 */
export const REWIND_LENGTH = 1024;

/** What decides the length of caches. Unit: tokens. */
export interface CacheLengths {
  readonly contextLength: number;
  /** Maximum number of tokens in a sequence in one call. */
  readonly longestRow: number;
  readonly rewindLength: number;
}

/**
 * Tokens of the ring of a layer with a window; undefined where that is no shorter than the context. A ring of `window - 1 + n` tokens
 * holds what a token attends to when the newest `n` tokens are dropped or not yet computed.
 */
export function windowCapacity(
  window: number,
  { contextLength, longestRow, rewindLength }: CacheLengths,
): number | undefined {
  const length = window - 1 + Math.max(longestRow, rewindLength);
  const capacity = Math.ceil(length / CACHE_PIECE) * CACHE_PIECE;
  return capacity < contextLength ? capacity : undefined;
}

/**
 * ONNX Runtime 1.30 takes blocks of 16 tokens on WebGPU too, but its kernel for prompts reads 32 keys of a block at a time.
 * With shorter blocks it takes another path, slower and wrong where subgroups have 8 lanes. Unit: tokens.
 */
export const MIN_BLOCK_LENGTH = 32;
