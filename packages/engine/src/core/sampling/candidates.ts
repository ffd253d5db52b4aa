// The tokens that may still be drawn, once something narrows them. One instance per sampler: its arrays have the size
// of the vocabulary and are reused for every row.

import { tokenWeight, type WeightScale } from './kernels/token-weight.ts';

export class Candidates {
  /** Token ids, ascending. Valid up to `count`. */
  readonly tokenIds: Int32Array;
  /** Of `tokenIds`, at the same index. */
  readonly logits: Float32Array;
  /** As `weigh` made them; see `kernels/token-weight.ts`. */
  readonly weights: Float64Array;
  count = 0;

  constructor(vocabSize: number) {
    this.tokenIds = new Int32Array(vocabSize);
    this.logits = new Float32Array(vocabSize);
    this.weights = new Float64Array(vocabSize);
  }

  /** Makes one token the only candidate. */
  keepOnly(tokenId: number, logit: number): void {
    this.tokenIds[0] = tokenId;
    this.logits[0] = logit;
    this.count = 1;
  }

  /** Takes away candidates with a lower logit, and of those with the same one the ids above `lastOfEquals`. */
  keepFrom(lowestLogit: number, lastOfEquals = Infinity): void {
    const { tokenIds, logits, weights, count } = this;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const logit = logits[i]!;
      const tokenId = tokenIds[i]!;
      if (logit < lowestLogit || (logit === lowestLogit && tokenId > lastOfEquals)) continue;
      tokenIds[kept] = tokenId;
      logits[kept] = logit;
      weights[kept] = weights[i]!;
      kept++;
    }
    this.count = kept;
  }

  /** The sum of weights. Mutates: `weights`. */
  weigh(scale: WeightScale): number {
    const { logits, weights, count } = this;
    let total = 0;
    for (let i = 0; i < count; i++) {
      const weight = tokenWeight(logits[i]!, scale);
      weights[i] = weight;
      total += weight;
    }
    return total;
  }
}
