// Keeps the smallest set of best tokens whose probabilities reach a sum.

import { BUCKET_COUNT } from '../kernels/row-kernels.ts';
import type { WeightScale } from '../kernels/token-weight.ts';
import type { LogitsRow } from '../logits-row.ts';

/** Most rows of a model have what top-p keeps within this score of the best token: then few blocks are looked at. */
const NEAR_SCORE = -4;
/** Room for the rounding of a logarithm. Unit: powers of two. */
const POWER_MARGIN = 0.01;
const LARGEST_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;

export interface TopPSearch {
  readonly topP: number;
  readonly temperature: number;
  readonly scale: WeightScale;
  /** What the steps before left: tokens that reach this logit. */
  readonly lowestLogit: number;
}

/**
 * The least logit that stays. A token stays when the tokens ranked before it weigh less than `topP` of all: that is
 * vLLM's rule "sort ascending and drop while the sum is at most 1 - topP", seen from the other end. The best token
 * always stays. Equal logits are ranked by id; those that do not stay are forbidden in the row.
 *
 * No sort: the weights are summed up by buckets of neighbouring logits, and only in the bucket where the sum is reached
 * tokens are told apart.
 * Mutates: `row`, which keeps the weights afterwards.
 */
export function topPLimit(row: LogitsRow, search: TopPSearch): number {
  const { topP, temperature, scale } = search;
  const all = row.keepWeights(scale, search.lowestLogit);
  const target = topP * all;
  const nearLogit = Math.fround(scale.largest + NEAR_SCORE * temperature);
  const isNearEnough = nearLogit > search.lowestLogit && row.reachesKept(target, nearLogit);
  const lowestLogit = isNearEnough ? nearLogit : search.lowestLogit;
  // What comes after the last token that stays, and that token itself, weigh more than `1 - topP` of all: so it alone
  // weighs more than that share of a mean token.
  const lowestPower = Math.log2(((1 - topP) * all) / row.vocabSize) - scale.bits - POWER_MARGIN;
  const depth = Math.min(-lowestPower, (scale.largest - lowestLogit) * scale.factor);
  const stride = Math.fround(Math.min(LARGEST_FLOAT32, ((BUCKET_COUNT - 1) * scale.factor) / depth));
  const buckets = { largest: scale.largest, stride, lowestLogit };
  const masses = row.spreadKept(buckets);
  let bucket = 0;
  let mass = 0;
  // Sums of weights are exact, so those of the buckets reach the target as well.
  for (; mass + masses[bucket]! < target; bucket++) mass += masses[bucket]!;
  return cutAmong(row, row.gatherBucket(bucket, buckets), mass, target);
}

/**
 * The logit of the token at which the sum of weights, best first, reaches the target. `mass` is that of all tokens better
 * than these. Mutates: the order of `ids`, and `row` where equals do not all stay.
 */
function cutAmong(row: LogitsRow, ids: Int32Array, mass: number, target: number): number {
  const { logits, keptWeights } = row;
  let [start, end, massBefore] = [0, ids.length, mass];
  for (;;) {
    // Better tokens to the front, worse ones to the back, equals of one of them in the middle.
    const pivot = logits[ids[(start + end) >> 1]!]!;
    let [better, worse] = [start, end];
    let [betterMass, equalWeight] = [0, 0];
    for (let i = start; i < worse; ) {
      const id = ids[i]!;
      const logit = logits[id]!;
      if (logit > pivot) {
        betterMass += keptWeights[id]!;
        ids[i++] = ids[better]!;
        ids[better++] = id;
      } else if (logit < pivot) {
        ids[i] = ids[--worse]!;
        ids[worse] = id;
      } else {
        equalWeight = keptWeights[id]!;
        i++;
      }
    }
    const equalCount = worse - better;
    if (massBefore + betterMass >= target) end = better;
    else if (massBefore + betterMass + equalCount * equalWeight < target) {
      massBefore += betterMass + equalCount * equalWeight;
      start = worse;
    } else {
      let keptCount = 0;
      for (let sum = massBefore + betterMass; sum < target; sum += equalWeight) keptCount++;
      if (keptCount < equalCount) row.forbidEquals(pivot, keptCount);
      return pivot;
    }
  }
}
