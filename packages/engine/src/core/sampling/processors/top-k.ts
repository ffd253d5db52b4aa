// Keeps the k best tokens, and those that tie with the last of them.

import type { Candidates } from '../candidates.ts';

/** Mutates: `candidates`. `topK` 0 is off, as is one that is not smaller than the number of candidates. */
export function applyTopK(candidates: Candidates, topK: number): void {
  if (topK === 0 || topK >= candidates.count) return;
  candidates.keepScoresFrom(kthLargest(candidates.scores, candidates.count, topK, candidates.scratch));
}

/**
 * The k-th largest of the first `count` values, by a min-heap of the k largest so far: one comparison for most
 * values, whatever the vocabulary. Mutates: the first k places of `heap`.
 */
function kthLargest(values: Float64Array, count: number, k: number, heap: Float64Array): number {
  for (let i = 0; i < k; i++) heap[i] = values[i]!;
  for (let i = (k >> 1) - 1; i >= 0; i--) siftDown(heap, k, i);
  for (let i = k; i < count; i++) {
    const value = values[i]!;
    if (value <= heap[0]!) continue;
    heap[0] = value;
    siftDown(heap, k, 0);
  }
  return heap[0]!;
}

function siftDown(heap: Float64Array, size: number, start: number): void {
  const value = heap[start]!;
  let parent = start;
  for (;;) {
    let child = 2 * parent + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= value) break;
    heap[parent] = heap[child]!;
    parent = child;
  }
  heap[parent] = value;
}
