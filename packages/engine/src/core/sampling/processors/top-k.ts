// Keeps the k best tokens, and those that tie with the last of them.

import type { Candidates } from '../candidates.ts';
import { kthLargest } from '../kth-largest.ts';

/** Mutates: `candidates`; their weights are used as work memory. `topK` not below their number changes nothing. */
export function applyTopK(candidates: Candidates, topK: number): void {
  const { logits, count, weights } = candidates;
  if (topK < count) candidates.keepFrom(kthLargest(logits, count, topK, weights));
}
