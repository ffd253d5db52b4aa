// The k-th largest of many values without sorting them. Callers: `logits-row.ts` and `processors/top-k.ts`.

/**
 * The k-th largest of the first `count` values, equals counted each, by a min-heap of the k largest so far: one
 * comparison for most values. `k` is at least 1 and at most `count`. Mutates: the first k places of `heap`.
 */
export function kthLargest(values: Float32Array, count: number, k: number, heap: Float64Array): number {
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
