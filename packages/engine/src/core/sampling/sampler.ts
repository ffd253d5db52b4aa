// Picks the next token of one row of logits. The order of the steps is documented here and nowhere else.

import type { SamplingParams } from '../../request/sampling-params.ts';
import { Candidates } from './candidates.ts';
import { type CounterKey, uniformAt } from './counter-random.ts';
import { applyMinP } from './processors/min-p.ts';
import { maskBannedTokens } from './processors/min-tokens.ts';
import { applyTemperature } from './processors/temperature.ts';
import { applyTopK } from './processors/top-k.ts';
import { applyTopP } from './processors/top-p.ts';

/** How one token is drawn. */
export interface SamplingStep {
  readonly params: SamplingParams;
  readonly randomKey: CounterKey;
  /** Index of the token in the output: with the key, all that the draw depends on. */
  readonly position: number;
  /** Tokens that must not be drawn now: the ends of an answer that is still too short. */
  readonly bannedTokenIds: readonly number[];
}

/** One per model; keeps buffers of the vocabulary's size. */
export class Sampler {
  readonly vocabSize: number;
  readonly #candidates: Candidates;

  constructor(vocabSize: number) {
    this.vocabSize = vocabSize;
    this.#candidates = new Candidates(vocabSize);
  }

  /**
   * The next token. Shape: `logits` is `[vocabSize]`. Mutates: `logits`.
   *
   * Order: 1. tokens banned by the minimum length; 2. temperature 0 takes the largest logit, the lowest id of
   * equals; else 3. temperature; 4. min-p; 5. top-k, ties kept; 6. top-p on what is left, renormalised; 7. one
   * draw. Source: the sampling pipeline of vLLM, whose wire format the service speaks.
   * Throws: when the row has no finite logit or a NaN, that is, when the model is broken.
   */
  sample(logits: Float32Array, step: SamplingStep): number {
    const { params } = step;
    maskBannedTokens(logits, step.bannedTokenIds);
    const best = indexOfLargest(logits);
    if (params.temperature === 0) return best;
    const candidates = this.#candidates;
    applyTemperature(candidates, logits, logits[best]!, params.temperature);
    applyMinP(candidates, params.minP);
    applyTopK(candidates, params.topK);
    applyTopP(candidates, params.topP);
    return draw(candidates, uniformAt(step.randomKey, step.position));
  }
}

/** Throws: when the largest value is not a finite number or any value is NaN. */
function indexOfLargest(logits: Float32Array): number {
  let best = -1;
  let largest = -Infinity;
  let sum = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    // Zero for every number but NaN and the infinities; a NaN makes the sum NaN and it stays so.
    sum += logit === -Infinity ? 0 : logit * 0;
    if (logit > largest) {
      largest = logit;
      best = id;
    }
  }
  if (best < 0 || sum !== 0) throw new Error('The model returned logits that are not numbers.');
  return best;
}

/** The candidate at which the running sum of probabilities, in id order, passes `uniform`. */
function draw(candidates: Candidates, uniform: number): number {
  const { tokenIds, scores, scratch, count } = candidates;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const weight = Math.exp(scores[i]!);
    scratch[i] = weight;
    total += weight;
  }
  let left = uniform * total;
  for (let i = 0; i < count; i++) {
    left -= scratch[i]!;
    if (left < 0) return tokenIds[i]!;
  }
  // Rounding may leave a rest of the order of 1e-16 after the last candidate; the best one is always right.
  return tokenIds[scores.subarray(0, count).indexOf(0)]!;
}
