// Drops tokens that are less probable than a share of the best one.

import type { Candidates } from '../candidates.ts';

/**
 * Keeps tokens with `p >= minP * max(p)`. The normaliser cancels, so this is a threshold on the scores:
 * `exp(score) >= minP`. Mutates: `candidates`.
 */
export function applyMinP(candidates: Candidates, minP: number): void {
  if (minP > 0) candidates.keepScoresFrom(Math.log(minP));
}
