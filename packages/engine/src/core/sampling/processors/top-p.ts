// Keeps the smallest set of best tokens whose probabilities reach a sum.

import type { Candidates } from '../candidates.ts';

/** Width of a bucket in score units; tokens of one bucket differ in probability by at most this factor's exp. */
const BUCKETS_PER_UNIT = 16;
/** Scores below this share the last bucket; their weights are zero, or next to it. */
const LOWEST_SCORE = -32;
const BUCKET_COUNT = -LOWEST_SCORE * BUCKETS_PER_UNIT + 1;

/** What the probabilities of a row are relative to. */
export interface TopPScale {
  readonly largest: number;
  readonly temperature: number;
}

/**
 * Keeps a token when the tokens ranked before it weigh less than `target`: that is vLLM's rule "sort ascending
 * and drop while the sum is at most 1 - topP", seen from the other end. The best token always stays. Equal
 * logits are ranked by id. `candidates` are weighed, and weigh at least `target` together.
 *
 * No full sort: the weights are summed into buckets by score, best first, until the sum reaches the target;
 * only the bucket in which that happens is sorted.
 * Mutates: `candidates`.
 */
export function applyTopP(candidates: Candidates, target: number, scale: TopPScale): void {
  const { tokenIds, logits, weights, count } = candidates;
  const bucketMass = new Float64Array(BUCKET_COUNT);
  for (let i = 0; i < count; i++) bucketMass[bucketOf(logits[i]!, scale)]! += weights[i]!;
  let massBefore = 0;
  let border = 0;
  while (border < BUCKET_COUNT - 1 && massBefore + bucketMass[border]! < target) {
    massBefore += bucketMass[border]!;
    border++;
  }

  const ranked: number[] = [];
  for (let i = 0; i < count; i++) if (bucketOf(logits[i]!, scale) === border) ranked.push(i);
  // Stable, and candidates are in id order, so equal logits stay ranked by id.
  ranked.sort((a, b) => logits[b]! - logits[a]!);
  let last = ranked[0]!;
  for (const i of ranked) {
    if (massBefore >= target) break;
    massBefore += weights[i]!;
    last = i;
  }
  candidates.keepFrom(logits[last]!, tokenIds[last]!);
}

function bucketOf(logit: number, { largest, temperature }: TopPScale): number {
  const score = (logit - largest) / temperature;
  return score < LOWEST_SCORE ? BUCKET_COUNT - 1 : Math.floor(-score * BUCKETS_PER_UNIT);
}
