// Estimates the weight of the tokens between two logits, from the weights of buckets of neighbouring logits. Caller:
// `top-p.ts`, which checks every estimate.

import { BUCKET_COUNT, type Buckets, bucketOf } from '../kernels/row-kernels.ts';

/** Tokens with at least `lowestLogit` and less than `belowLogit`. */
export interface LogitRange {
  readonly lowestLogit: number;
  readonly belowLogit: number;
}

/** Factor by which a range exceeds the missing weight. */
const RANGE_MARGIN = 1.25;

export class WeightSumEstimate {
  readonly #weightSums: Float64Array;
  readonly #share: number;
  readonly #buckets: Buckets;

  /** `weightSums` of the buckets are of that share of all tokens. */
  constructor(weightSums: Float64Array, share: number, buckets: Buckets) {
    this.#weightSums = weightSums;
    this.#share = share;
    this.#buckets = buckets;
  }

  /** The logit below which tokens weigh this much. */
  limitBelowWhich(weightSum: number): number {
    const weightSums = this.#weightSums;
    let left = weightSum * this.#share;
    let bucket = BUCKET_COUNT - 1;
    for (; bucket > 0 && weightSums[bucket]! < left; bucket--) left -= weightSums[bucket]!;
    const part = left > 0 ? Math.min(1, left / weightSums[bucket]!) : 0;
    return this.#logitAt(bucket + 0.5 - part);
  }

  /** From a limit upwards, tokens that weigh this much and some more. */
  rangeAbove(lowestLogit: number, weightSum: number): LogitRange {
    let left = weightSum * this.#share * RANGE_MARGIN;
    let bucket = this.#bucketAt(lowestLogit) - 1;
    for (; bucket > 0 && left > this.#weightSums[bucket]!; bucket--) left -= this.#weightSums[bucket]!;
    return { lowestLogit, belowLogit: bucket > 0 ? this.#logitAt(bucket - 0.5) : Infinity };
  }

  /** From a limit downwards, tokens that weigh this much and some more. */
  rangeBelow(belowLogit: number, weightSum: number): LogitRange {
    let left = weightSum * this.#share * RANGE_MARGIN;
    const last = BUCKET_COUNT - 1;
    let bucket = this.#bucketAt(belowLogit) + 1;
    for (; bucket < last && left > this.#weightSums[bucket]!; bucket++) left -= this.#weightSums[bucket]!;
    const { lowestLogit } = this.#buckets;
    return { lowestLogit: bucket < last ? this.#logitAt(bucket + 0.5) : lowestLogit, belowLogit };
  }

  #bucketAt(logit: number): number {
    return bucketOf(logit, this.#buckets);
  }

  /** Between the lowest and the largest logit. */
  #logitAt(place: number): number {
    const { largest, stride, lowestLogit } = this.#buckets;
    return Math.max(lowestLogit, Math.min(largest, Math.fround(largest - place / stride)));
  }
}
