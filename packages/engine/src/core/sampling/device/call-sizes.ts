// Sizes of the calls of the device sampler, and the memory of its rows. Few sizes, so that few calls are prepared and few
// shaders compiled; close enough to the need that little is read back in vain.

import { rowShape } from './row-shape.ts';

const ROW_COUNTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
const MIN_EDITS = 16;

/** Rows of one call. */
export const MAX_ROWS = 64;

/** Kinds of rows that stay on the device from one graph to the next: edited ones, and the model's own. */
const KEPT_KINDS = 2;

/** Rows of the smallest call for `count` rows, which is `MAX_ROWS` at most. */
export function rowCountFor(count: number): number {
  return ROW_COUNTS.find(size => size >= count)!;
}

/** Edits of a row: the next power of two. */
export function editCountFor(count: number): number {
  let size = MIN_EDITS;
  while (size < count) size *= 2;
  return size;
}

/** Rows of the largest call of a sampler that is asked about `rowLimit` rows at most. */
export function largestCall(rowLimit: number): number {
  return rowCountFor(Math.min(rowLimit, MAX_ROWS));
}

/** Memory that the sampler holds on the device, from its first call on. Unit: bytes. */
export function samplingMemoryBytes(vocabSize: number, rowLimit: number): number {
  const { paddedLength } = rowShape(vocabSize);
  return KEPT_KINDS * largestCall(rowLimit) * paddedLength * Float32Array.BYTES_PER_ELEMENT;
}
