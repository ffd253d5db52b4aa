// Keeps the smallest set of best tokens whose probabilities reach a sum.

import type { Candidates } from '../candidates.ts';

/** Width of a bucket in score units; tokens of one bucket differ in probability by at most this factor's exp. */
const BUCKETS_PER_UNIT = 16;
/** Scores below this share the last bucket: each is less than e^-64 of the best token's probability. */
const LOWEST_SCORE = -64;
const BUCKET_COUNT = -LOWEST_SCORE * BUCKETS_PER_UNIT + 1;

/**
 * Keeps a token when the tokens ranked before it sum to less than `topP`: that is vLLM's rule "sort ascending
 * and drop while the sum is at most 1 - topP", seen from the other end. The best token always stays. Equal
 * probabilities are ranked by id.
 *
 * No full sort: the probabilities are summed into buckets by score, best first, until the sum reaches `topP`;
 * only the bucket in which that happens is sorted.
 * Mutates: `candidates`.
 */
export function applyTopP(candidates: Candidates, topP: number): void {
  if (topP >= 1 || candidates.count <= 1) return;
  const { scores, count, scratch } = candidates;
  const bucketMass = new Float64Array(BUCKET_COUNT);
  let total = 0;
  for (let i = 0; i < count; i++) {
    const weight = Math.exp(scores[i]!);
    scratch[i] = weight;
    total += weight;
    bucketMass[bucketOf(scores[i]!)]! += weight;
  }
  const target = topP * total;
  let massBefore = 0;
  let border = 0;
  while (border < BUCKET_COUNT - 1 && massBefore + bucketMass[border]! < target) {
    massBefore += bucketMass[border]!;
    border++;
  }

  const ranked: number[] = [];
  for (let i = 0; i < count; i++) if (bucketOf(scores[i]!) === border) ranked.push(i);
  // Stable, and candidates are in id order, so equal scores stay ranked by id.
  ranked.sort((a, b) => scores[b]! - scores[a]!);
  let lastKept = -1;
  for (const i of ranked) {
    if (massBefore >= target) break;
    massBefore += scratch[i]!;
    lastKept = i;
  }
  // Rounding may leave nothing to rank, when every candidate before the empty last bucket is needed.
  if (lastKept >= 0) dropBehind(candidates, lastKept);
}

/** Takes away candidates that rank behind the one at `lastKept`: lower scores, and equal scores of higher ids. */
function dropBehind(candidates: Candidates, lastKept: number): void {
  const { tokenIds, scores, count } = candidates;
  const lowestScore = scores[lastKept]!;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const score = scores[i]!;
    if (score < lowestScore || (score === lowestScore && i > lastKept)) continue;
    tokenIds[kept] = tokenIds[i]!;
    scores[kept] = score;
    kept++;
  }
  candidates.count = kept;
}

function bucketOf(score: number): number {
  return score < LOWEST_SCORE ? BUCKET_COUNT - 1 : Math.floor(-score * BUCKETS_PER_UNIT);
}
