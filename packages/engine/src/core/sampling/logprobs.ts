// Log probabilities of one row of logits: of a token and of the best candidates. Nothing is sorted but the few that
// are reported. Callers: the sampler for generated tokens, `sample-step.ts` for those of the prompt.

import type { TokenLogprobs } from '../../request/token-logprobs.ts';

/**
 * What the model itself thought of `tokenId` and of the `topCount` best tokens, equals in the order of their ids.
 * Shape: `logits` is `[vocabSize]`. Sums are float64, results float32.
 * Throws: when the row is not made of numbers, that is, when the model is broken.
 */
export function readTokenLogprobs(logits: Float32Array, tokenId: number, topCount: number): TokenLogprobs {
  const own = logits[tokenId]!;
  const length = Math.min(topCount, logits.length);
  // Best first; `worst` is what a logit must exceed to get in.
  const topIds = new Int32Array(length);
  const topLogits = new Float32Array(length);
  let filled = 0;
  let worst = length === 0 ? Infinity : -Infinity;
  let largest = -Infinity;
  let greaterCount = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit > largest) largest = logit;
    if (logit > own) greaterCount++;
    if (filled === length && !(logit > worst)) continue;
    let place = filled === length ? length - 1 : filled++;
    for (; place > 0 && topLogits[place - 1]! < logit; place--) {
      topLogits[place] = topLogits[place - 1]!;
      topIds[place] = topIds[place - 1]!;
    }
    topLogits[place] = logit;
    topIds[place] = id;
    if (filled === length) worst = topLogits[length - 1]!;
  }
  const normalizer = largest + Math.log(sumOfWeights(logits, largest));
  if (!Number.isFinite(normalizer)) throw new Error('The model returned logits that are not numbers.');
  return {
    tokenId,
    logprob: Math.fround(own - normalizer),
    rank: 1 + greaterCount,
    topTokenIds: topIds,
    topLogprobs: topLogits.map(logit => logit - normalizer),
  };
}

/** Sum of `exp(logit - largest)`. */
function sumOfWeights(logits: Float32Array, largest: number): number {
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += Math.exp(logits[id]! - largest);
  return sum;
}
