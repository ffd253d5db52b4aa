// The tokens that may still be drawn, with their scores. Processors only ever take candidates away.
// One instance per sampler: its arrays have the size of the vocabulary and are reused for every row.

export class Candidates {
  /** Token ids, ascending. Valid up to `count`. */
  readonly tokenIds: Int32Array;
  /**
   * Logit minus the largest logit, divided by the temperature: at most 0, and 0 for the best token.
   * `exp(score)` is the probability relative to the best token. Valid up to `count`.
   */
  readonly scores: Float64Array;
  /** Room for processors: probabilities, heaps. Its content means nothing between calls. */
  readonly scratch: Float64Array;
  count = 0;

  constructor(vocabSize: number) {
    this.tokenIds = new Int32Array(vocabSize);
    this.scores = new Float64Array(vocabSize);
    this.scratch = new Float64Array(vocabSize);
  }

  /** Makes one token the only candidate. */
  keepOnly(tokenId: number): void {
    this.tokenIds[0] = tokenId;
    this.scores[0] = 0;
    this.count = 1;
  }

  /** Takes away candidates whose score is below the threshold. The order stays. */
  keepScoresFrom(threshold: number): void {
    const { tokenIds, scores, count } = this;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const score = scores[i]!;
      if (score < threshold) continue;
      tokenIds[kept] = tokenIds[i]!;
      scores[kept] = score;
      kept++;
    }
    this.count = kept;
  }
}
