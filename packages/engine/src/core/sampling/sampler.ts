// Picks the next token of one row of logits. The order of the steps is documented here and nowhere else.

import { EngineError } from '../../errors.ts';
import type { SamplingParams } from '../../request/sampling-params.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import { maskLogits, onlyAllowed, type TokenMask } from '../token-mask.ts';
import { Candidates } from './candidates.ts';
import { type CounterKey, uniformAt } from './counter-random.ts';
import type { LogitsProcessor, OutputView } from './logits-processor.ts';
import { readTokenLogprobs } from './logprobs.ts';
import { applyMinP } from './processors/min-p.ts';
import { applyTemperature } from './processors/temperature.ts';
import { applyTopK } from './processors/top-k.ts';
import { applyTopP } from './processors/top-p.ts';

/** How one token is drawn. */
export interface SamplingStep {
  readonly params: SamplingParams;
  readonly randomKey: CounterKey;
  /** Index of the token in the output: with the key, all that the draw itself depends on. */
  readonly position: number;
  /** What `createLogitsProcessors` gave for the request. */
  readonly processors: readonly LogitsProcessor[];
  /** The output so far. */
  readonly output: OutputView;
  /** How many candidates to report beside the token. Undefined: no log probabilities at all. */
  readonly topLogprobCount: number | undefined;
  /** What a constraint allows. Absent or null: everything. */
  readonly mask?: TokenMask | null;
}

export interface SampledToken {
  readonly tokenId: number;
  /** Only when asked for. */
  readonly logprobs?: TokenLogprobs;
}

/** One per model; keeps buffers of the vocabulary's size. */
export class Sampler {
  readonly vocabSize: number;
  readonly #candidates: Candidates;
  /** The row before processors edit it, where log probabilities are wanted or a constraint may outlive them. */
  readonly #rawLogits: Float32Array;

  constructor(vocabSize: number) {
    this.vocabSize = vocabSize;
    this.#candidates = new Candidates(vocabSize);
    this.#rawLogits = new Float32Array(vocabSize);
  }

  /**
   * The next token. Shape: `logits` is `[vocabSize]`. Mutates: `logits`.
   *
   * Order:
   *  0. only what the constraint allows, and one allowed token needs no draw; a model that may think before it answers
   *     thinks when the token that begins it has the largest logit of all;
   *  1. log probabilities are those of the row as it comes;
   *  2. allowed tokens; 3. bad words; 4. no ends before the minimum length;
   *  5. bias; 6. repetition penalty, frequency penalty, presence penalty (2 to 6: `createLogitsProcessors`);
   *  7. temperature 0 takes the largest logit, the lowest id of equals; else
   *  8. temperature; 9. min-p; 10. top-k, ties kept; 11. top-p on what is left, renormalised;
   * 12. one draw.
   * Source: the sampling pipeline of vLLM, whose wire format the service speaks.
   * Where steps 2 to 4 leave nothing of what a constraint allows, the answer ends if it is complete; otherwise they
   * give way.
   * Throws: `invalid_request` when steps 2 to 4 leave no token and there is no constraint; an Error when the row is not made of numbers, that
   * is, when the model is broken.
   */
  sample(logits: Float32Array, step: SamplingStep): SampledToken {
    const { topLogprobCount, processors, mask = null } = step;
    if (mask !== null && mask.thinkTokenId !== null && indexOfLargest(logits) === mask.thinkTokenId)
      return reportToken(logits, mask.thinkTokenId, topLogprobCount);
    if (mask !== null) maskLogits(logits, mask);
    const only = mask === null ? null : onlyAllowed(mask);
    if (topLogprobCount === undefined && mask === null) return { tokenId: this.#draw(logits, step) };
    const raw = processors.length === 0 ? logits : this.#rawLogits;
    if (raw !== logits) raw.set(logits);
    const tokenId = only ?? this.#draw(logits, step);
    return reportToken(raw, tokenId, topLogprobCount);
  }

  /**
   * The tokens that may be drawn after steps 1 to 11, with their scores; one when the temperature is 0. Valid until
   * the next call. Mutates: `logits`. Throws: as `sample` does.
   */
  narrow(logits: Float32Array, { params, processors, output }: SamplingStep): Candidates {
    for (const process of processors) process(logits, output);
    const best = indexOfLargest(logits);
    if (best === null) throw processors.length === 0 ? brokenRow() : nothingLeft();
    return this.#keepCandidates(logits, best, params);
  }

  /** As `narrow`, but the constraint has the last word. Mutates: `logits`. */
  #narrowUnderConstraint(logits: Float32Array, step: SamplingStep): Candidates {
    const { mask = null, processors, params, output } = step;
    if (mask === null || processors.length === 0) return this.narrow(logits, step);
    for (const process of processors) process(logits, output);
    const best = indexOfLargest(logits);
    if (best !== null) return this.#keepCandidates(logits, best, params);
    if (mask.endTokenId !== null) {
      this.#candidates.keepOnly(mask.endTokenId);
      return this.#candidates;
    }
    logits.set(this.#rawLogits);
    return this.narrow(logits, { ...step, processors: [] });
  }

  /** Steps 7 to 11. */
  #keepCandidates(logits: Float32Array, best: number, params: SamplingParams): Candidates {
    const candidates = this.#candidates;
    if (params.temperature === 0) {
      candidates.keepOnly(best);
      return candidates;
    }
    applyTemperature(candidates, logits, logits[best]!, params.temperature);
    applyMinP(candidates, params.minP);
    applyTopK(candidates, params.topK);
    applyTopP(candidates, params.topP);
    return candidates;
  }

  #draw(logits: Float32Array, step: SamplingStep): number {
    const candidates = this.#narrowUnderConstraint(logits, step);
    if (candidates.count === 1) return candidates.tokenIds[0]!;
    return draw(candidates, uniformAt(step.randomKey, step.position));
  }
}

function reportToken(raw: Float32Array, tokenId: number, topCount: number | undefined): SampledToken {
  return topCount === undefined
    ? { tokenId }
    : { tokenId, logprobs: readTokenLogprobs(raw, tokenId, topCount) };
}

/** Null when every value is minus infinity. Throws: when one is NaN or plus infinity. */
function indexOfLargest(logits: Float32Array): number | null {
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
  if (sum !== 0) throw brokenRow();
  return best < 0 ? null : best;
}

function brokenRow(): Error {
  return new Error('The model returned logits that are not numbers.');
}

function nothingLeft(): EngineError {
  const message =
    'No token may come next: allowed tokens, bad words and the minimum length rule out all of them.';
  return new EngineError('invalid_request', message, { parameter: 'sampling.allowedTokenIds' });
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
