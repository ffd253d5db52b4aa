// Top-k: keeps the k best tokens, and those that tie with the last of them.

import type { Candidates } from '../candidates.ts';
import { kthLargest } from '../kth-largest.ts';
import type { LogitsRow } from '../logits-row.ts';

/**
 * The lowest logit that stays: `lowestLogit` where fewer than k tokens have at least that. Mutates: `candidates` and
 * `heap`, which has at least k elements.
 */
export function topKLimit(
  row: LogitsRow,
  topK: number,
  lowestLogit: number,
  { candidates, heap }: { readonly candidates: Candidates; readonly heap: Float64Array },
): number {
  row.gather(candidates, Math.max(lowestLogit, row.boundOfBest(topK)));
  if (candidates.count < topK) return lowestLogit;
  return kthLargest(candidates.logits, candidates.count, topK, heap);
}
