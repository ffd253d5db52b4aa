// Top-p (nucleus sampling): keeps the smallest set of best tokens whose cumulative probability reaches `topP`.

import { BLOCK_LENGTH, BUCKET_COUNT, type Buckets, SAMPLE_LENGTH } from '../kernels/row-kernels.ts';
import { LARGEST_FLOAT32, type WeightScale } from '../kernels/token-weight.ts';
import type { LogitsRow, RowCut } from '../logits-row.ts';
import { type LogitRange, WeightSumEstimate } from './top-p-estimate.ts';

/** In most rows the nucleus is within this logit distance of the best token: then few blocks are visited. */
const NEAR_SCORE = -4;
/** The tokens of at most this many blocks are ranked without another estimate. */
const FEW_BLOCKS = 32;
/** Tolerance for the rounding of a logarithm. Unit: powers of two. */
const POWER_MARGIN = 0.01;

export interface TopPSearch {
  readonly topP: number;
  readonly temperature: number;
  readonly scale: WeightScale;
}

/** Range of the logit of the last token that stays: at least `lowestLogit`, and less than `belowLogit`. */
interface Region extends LogitRange {
  /** Sum over all tokens with at least `lowestLogit`. */
  readonly weightSum: number;
}

/**
 * The nucleus of `weighed`, the tokens that the row weighed last. A token stays when the tokens ranked before it weigh less
 * than `topP` of all: that is vLLM's rule "sort ascending and drop while the sum is at most 1 - topP", seen from the
 * other end. The best token always stays. Equal logits are ranked by id; those that do not stay are banned in the row.
 *
 * No sort: a sample of the row says about where the limit is, one sum over the row says how far from the limit that is,
 * and only the tokens in between are ranked. Sums are exact, so a wrong estimate only costs time.
 * Mutates: `row`.
 */
export function cutByTopP(row: LogitsRow, weighed: RowCut, search: TopPSearch): RowCut {
  const target = search.topP * weighed.weightSum;
  let counted = weighed;
  let region: Region = { ...weighed, belowLogit: Infinity };
  const nearLogit = Math.fround(search.scale.largest + NEAR_SCORE * search.temperature);
  // Most often the blocks alone show that the tokens near the best one are not enough.
  if (nearLogit > region.lowestLogit && row.weightReaching(nearLogit) >= target) {
    counted = countFrom(row, nearLogit);
    region =
      counted.weightSum >= target
        ? { ...counted, belowLogit: Infinity }
        : { ...region, belowLogit: nearLogit };
  }
  const isLimited = region.lowestLogit > -LARGEST_FLOAT32;
  if (isLimited && row.countReaching(region.lowestLogit) <= FEW_BLOCKS)
    return cutWithin(row, counted, target, region)!;

  const buckets = createBuckets(row, weighed.weightSum, region.lowestLogit, search);
  for (const tokens of ['sample', 'all'] as const) {
    const weightSums = row.spread(buckets, tokens);
    const estimate = new WeightSumEstimate(
      weightSums,
      tokens === 'all' ? 1 : SAMPLE_LENGTH / BLOCK_LENGTH,
      buckets,
    );
    counted = countFrom(row, estimate.limitBelowWhich(region.weightSum - target));
    const { lowestLogit, weightSum } = counted;
    const range =
      weightSum >= target
        ? estimate.rangeAbove(lowestLogit, weightSum - target)
        : estimate.rangeBelow(lowestLogit, target - weightSum);
    const cut = cutWithin(row, counted, target, range);
    if (cut !== null) return cut;
  }
  const { lowestLogit, weightSum } = counted;
  const range =
    weightSum >= target
      ? { lowestLogit, belowLogit: Infinity }
      : { lowestLogit: region.lowestLogit, belowLogit: lowestLogit };
  return cutWithin(row, counted, target, range)!;
}

function countFrom(row: LogitsRow, lowestLogit: number): RowCut {
  return { lowestLogit, weightSum: row.weighKept(lowestLogit) };
}

/**
 * The nucleus if its last token is in the range, else null. The range ends or begins at the limit of the tokens that are
 * counted now. Mutates: `row`.
 */
function cutWithin(row: LogitsRow, counted: RowCut, target: number, range: LogitRange): RowCut | null {
  const ids = row.gatherBetween(range.lowestLogit, range.belowLogit);
  const weightSum = row.weightSumOf(ids);
  const isCounted = range.lowestLogit >= counted.lowestLogit;
  const weightSumBefore = isCounted ? counted.weightSum - weightSum : counted.weightSum;
  if (weightSumBefore >= target || weightSumBefore + weightSum < target) return null;
  const lowestLogit = selectByCumulativeWeight(row, ids, weightSumBefore, target);
  return { lowestLogit, weightSum: weightSumBefore + row.recount(ids, { isCounted, lowestLogit }) };
}

/** Buckets down to where the last token that stays can be. */
function createBuckets(
  row: LogitsRow,
  weightSum: number,
  lowestLogit: number,
  { topP, scale: { largest, factor, bits } }: TopPSearch,
): Buckets {
  // The last token that stays and all tokens after it weigh more than `1 - topP` of all, so it alone weighs more than that
  // share of a mean token.
  const lowestPower = Math.log2(((1 - topP) * weightSum) / row.vocabSize) - bits - POWER_MARGIN;
  const depth = Math.min(-lowestPower, (largest - lowestLogit) * factor);
  const stride = Math.fround(Math.min(LARGEST_FLOAT32, ((BUCKET_COUNT - 1) * factor) / depth));
  return { largest, stride, lowestLogit };
}

/**
 * The logit of the token at which the sum of weights, best first, reaches the target: `weightSumBefore` is that of all tokens
 * better than these. Equals are ranked by id, and those after the token are banned in the row. Mutates: the order of
 * `ids`, and `row` where only some tied tokens stay.
 */
function selectByCumulativeWeight(
  row: LogitsRow,
  ids: Int32Array,
  weightSumBefore: number,
  target: number,
): number {
  const { logits, weights } = row;
  let [start, end] = [0, ids.length];
  let weightSum = weightSumBefore;
  for (;;) {
    // Better tokens to the front, worse ones to the back, equals of one of them in the middle.
    const pivot = logits[ids[(start + end) >> 1]!]!;
    let [better, worse] = [start, end];
    let [betterWeightSum, equalWeight] = [0, 0];
    for (let i = start; i < worse; ) {
      const id = ids[i]!;
      const logit = logits[id]!;
      if (logit > pivot) {
        betterWeightSum += weights[id]!;
        ids[i++] = ids[better]!;
        ids[better++] = id;
      } else if (logit < pivot) {
        ids[i] = ids[--worse]!;
        ids[worse] = id;
      } else {
        equalWeight = weights[id]!;
        i++;
      }
    }
    const equalCount = worse - better;
    if (weightSum + betterWeightSum >= target) end = better;
    else if (weightSum + betterWeightSum + equalCount * equalWeight < target) {
      weightSum += betterWeightSum + equalCount * equalWeight;
      start = worse;
    } else {
      let keptCount = 0;
      for (let sum = weightSum + betterWeightSum; sum < target; sum += equalWeight) keptCount++;
      if (keptCount < equalCount) row.forbidEquals(pivot, keptCount);
      return pivot;
    }
  }
}
