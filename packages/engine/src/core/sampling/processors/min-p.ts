// Drops tokens that are less probable than a share of the best one.

/**
 * The least logit that stays: of tokens with `p >= minP * max(p)`. The normaliser cancels, so this is a limit on the
 * logits, float32 as they are.
 */
export function minPLimit(largest: number, temperature: number, minP: number): number {
  return Math.fround(largest + temperature * Math.log(minP));
}
