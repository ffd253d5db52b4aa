// Log probabilities as the token side gives them: ids and numbers. The text side makes `TokenLogprob` of them.

/** Log probabilities at one place, as ids and numbers. `topTokenIds` are ordered by probability. */
export interface TokenLogprobs {
  readonly tokenId: number;
  readonly logprob: number;
  readonly rank: number;
  /** Shape: `[topCount]`. */
  readonly topTokenIds: Int32Array;
  /** Shape: `[topCount]`. */
  readonly topLogprobs: Float32Array;
}
