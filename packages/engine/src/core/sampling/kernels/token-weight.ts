// The weight of a token: its probability relative to the best one, as a whole number. This arithmetic is the definition;
// `wasm-weigh-functions.ts` repeats it operation by operation, four tokens at a time.
//
// Weights are whole numbers so small that a vocabulary of them adds up without rounding. So a sum of weights does not
// depend on the order of its terms, and neither do the decisions based on it: which tokens top-p keeps and which one is
// drawn. Everything before the last rounding is float32, like the logits, and consists of operations whose results
// IEEE 754 defines to the bit, so the result does not depend on the machine either.

/** The parameters that turn the logits of a row into weights, in float32. */
export interface WeightScale {
  /** The largest logit: its weight is `2 ** bits`. */
  readonly largest: number;
  /** From differences of logits to powers of two. */
  readonly factor: number;
  readonly bits: number;
}

/** Added to a float32 below 2^22 in size and taken away again, it rounds to a whole number. */
export const ROUNDER = 1.5 * 2 ** 23;
/** Smaller powers of two are taken as this one: still a float32 of full precision, and less than any weight. */
export const LOWEST_POWER = -125;
/** A power that is lower than `-bits` by this much has weight 0. */
export const NO_WEIGHT_MARGIN = 2;

/**
 * `2 ** f` for f in [-1/2, 1/2] is 1 plus the sum of these times f, f^2, ...: a fit of least largest relative error,
 * which is 2e-9 before and 1e-7 after rounding to float32.
 */
export const EXP2_COEFFICIENTS: readonly number[] = [
  0.6931471824645996, 0.24022647738456726, 0.055503323674201965, 0.00961843691766262, 0.0013398875016719103,
  0.00015353361959569156,
];
const [C1, C2, C3, C4, C5, C6] = EXP2_COEFFICIENTS as [number, number, number, number, number, number];

export const LARGEST_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;
const SMALLEST_NORMAL_FLOAT32 = 2 ** -126;
/** Maximum number of bits of a sum that float64 holds without rounding. */
const EXACT_BITS = 53;
/** Weights of this many bits lose nothing of their float32; their sums are rounded, in the order of `RowKernels`. */
export const FINEST_BITS = 60;

/** Bits of a weight of which `vocabSize` can be added without rounding: 35 for 151,936 tokens. */
export function exactWeightBits(vocabSize: number): number {
  return EXACT_BITS - Math.ceil(Math.log2(Math.max(1, vocabSize)));
}

/** The temperature is above 0; one whose inverse float32 cannot hold acts as the nearest that it can. */
export function weightScale(largest: number, temperature: number, bits: number): WeightScale {
  const factor = Math.fround(Math.LOG2E / temperature);
  return { largest, factor: Math.min(LARGEST_FLOAT32, Math.max(SMALLEST_NORMAL_FLOAT32, factor)), bits };
}

/** The weight of a token with that logit, which is at most `largest`. */
export function tokenWeight(logit: number, { largest, factor, bits }: WeightScale): number {
  const power = Math.max(Math.fround(Math.fround(logit - largest) * factor), LOWEST_POWER);
  const rounder = ROUNDER + bits;
  const whole = Math.fround(Math.fround(power + rounder) - rounder);
  const f = Math.fround(power - whole);
  let sum = Math.fround(Math.fround(C6 * f) + C5);
  sum = Math.fround(Math.fround(sum * f) + C4);
  sum = Math.fround(Math.fround(sum * f) + C3);
  sum = Math.fround(Math.fround(sum * f) + C2);
  sum = Math.fround(Math.fround(sum * f) + C1);
  sum = Math.fround(Math.fround(sum * f) + 1);
  return roundHalfEven(sum * POWERS_OF_TWO[whole + bits - LOWEST_POWER]!);
}

/** From `2 ** LOWEST_POWER` on. */
const POWERS_OF_TWO = Float64Array.from(
  { length: FINEST_BITS - LOWEST_POWER + 1 },
  (_, index) => 2 ** (index + LOWEST_POWER),
);

function roundHalfEven(value: number): number {
  // From 2^52 on a float64 is a whole number; below, adding and taking away rounds to one.
  return value >= 2 ** 52 ? value : value + 2 ** 52 - 2 ** 52;
}
