// Min-p: drops tokens that are less probable than a share of the best one.

/**
 * The lowest logit that stays, that of tokens with `p >= minP * max(p)`. The normaliser cancels, so this is a limit on the
 * logits, in float32.
 */
export function minPLimit(largest: number, temperature: number, minP: number): number {
  return Math.fround(largest + temperature * Math.log(minP));
}
