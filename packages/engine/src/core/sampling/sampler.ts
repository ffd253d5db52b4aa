// The sampler: samples the next token from one row of logits. The order of its steps is documented only here.

import { EngineError } from '../../errors.ts';
import type { SamplingParams } from '../../request/sampling-params.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import { maskLogits, onlyAllowed, type TokenMask } from '../token-mask.ts';
import { Candidates } from './candidates.ts';
import { type CounterKey, uniformAt } from './counter-random.ts';
import type { RowKernels } from './kernels/row-kernels.ts';
import { exactWeightBits, LARGEST_FLOAT32, weightScale } from './kernels/token-weight.ts';
import type { LogitsProcessor, OutputView } from './logits-processor.ts';
import { LogitsRow, type RowCut } from './logits-row.ts';
import { readRowLogprobs } from './logprobs.ts';
import { minPLimit } from './processors/min-p.ts';
import { topKLimit } from './processors/top-k.ts';
import { cutByTopP } from './processors/top-p.ts';

/** The settings of one draw. */
export interface SamplingStep {
  readonly params: SamplingParams;
  readonly randomKey: CounterKey;
  /** Index of the token in the output: with the key, all that the draw itself depends on. */
  readonly position: number;
  /** The processors of the request, from `createLogitsProcessors`. */
  readonly processors: readonly LogitsProcessor[];
  /** The output so far. */
  readonly output: OutputView;
  /** Number of candidates to report beside the token. Undefined: no log probabilities. */
  readonly topLogprobCount: number | undefined;
  /** The tokens that a constraint allows. Absent or null: all. */
  readonly mask?: TokenMask | null;
  /** Whether `editInPlace` has applied the request's logits processors already. Default: false. */
  readonly isEdited?: boolean;
}

export interface SampledToken {
  readonly tokenId: number;
  /** Only when requested. */
  readonly logprobs?: TokenLogprobs;
}

/** One per model; keeps buffers of the vocabulary's size. */
export class Sampler {
  readonly vocabSize: number;
  readonly #row: LogitsRow;
  readonly #candidates: Candidates;
  /** Work memory of top-k. */
  readonly #heap: Float64Array;
  readonly #weightBits: number;

  /** `kernels` other than the fastest are for comparisons in tests. */
  constructor(vocabSize: number, kernels?: RowKernels) {
    this.vocabSize = vocabSize;
    this.#row = new LogitsRow(vocabSize, kernels);
    this.#candidates = new Candidates(vocabSize);
    this.#heap = new Float64Array(vocabSize);
    this.#weightBits = exactWeightBits(vocabSize);
  }

  /**
   * The next token. Shape: `logits` is `[vocabSize]`.
   *
   * Order:
   *  0. only what the constraint allows, and one allowed token needs no draw; reasoning that is still
   *     possible begins when the token that opens it has the largest logit of all after steps 2 to 6;
   *  1. log probabilities are those of the unedited row;
   *  2. allowed tokens; 3. bad words; 4. no ends before the minimum length;
   *  5. bias; 6. repetition penalty, frequency penalty, presence penalty (2 to 6: `createLogitsProcessors`);
   *  7. temperature 0 takes the largest logit, ties by id; else
   *  8. temperature; 9. min-p; 10. top-k, ties kept; 11. top-p on what is left, renormalised;
   * 12. one draw: the token at which the running sum of weights, in id order, passes a random share of it.
   * Source: the sampling pipeline of vLLM, whose wire format the service speaks.
   * Where steps 2 to 4 ban every token that a constraint allows, the answer ends if it is complete; otherwise these steps
   * are skipped.
   * Mutates: `logits`, with a constraint.
   * Throws: `invalid_request` when steps 2 to 4 leave no token and there is no constraint; an Error when the row is not
   * made of numbers, that is, when the model is broken.
   */
  sample(logits: Float32Array, step: SamplingStep): SampledToken {
    const row = this.#row;
    const { topLogprobCount, processors, params, mask = null } = step;
    if (mask !== null) {
      if (mask.reasoningTokenId !== null && this.#largestToken(logits, step) === mask.reasoningTokenId)
        return this.#report(logits, mask.reasoningTokenId, topLogprobCount);
      maskLogits(logits, mask);
      const only = onlyAllowed(mask);
      if (only !== null) return this.#report(logits, only, topLogprobCount);
    }
    const tokenId = this.#edit(logits, step) ?? this.#draw(step);
    if (topLogprobCount === undefined) return { tokenId };
    if (processors.length > 0 || params.topP < 1) {
      row.open(logits);
      row.scan();
    }
    return { tokenId, logprobs: readRowLogprobs(row, this.#candidates, tokenId, topLogprobCount) };
  }

  /**
   * Applies the edits that need the state of the sequence, so that `sample` may follow on any thread: without processors,
   * without a mask, and with `isEdited` where there were processors. False, with the row as it was: sampling it needs that
   * state.
   * Mutates: `logits`.
   */
  static editInPlace(logits: Float32Array, step: SamplingStep): boolean {
    const { topLogprobCount, processors, output, mask = null } = step;
    // Log probabilities are those of the row before it was edited.
    if (processors.length > 0 && (topLogprobCount !== undefined || mask !== null)) return false;
    if (mask !== null) {
      if (mask.reasoningTokenId !== null || onlyAllowed(mask) !== null) return false;
      maskLogits(logits, mask);
    }
    for (const processor of processors) processor.edit(logits, output);
    return true;
  }

  /**
   * Log probabilities of a token that was not drawn here, and of the best ones. Shape: `logits` is
   * `[vocabSize]`. Throws: an Error when the row is not made of numbers.
   */
  readLogprobs(logits: Float32Array, tokenId: number, topCount: number): TokenLogprobs {
    this.#row.open(logits);
    this.#row.scan();
    return readRowLogprobs(this.#row, this.#candidates, tokenId, topCount);
  }

  /** The token with the largest logit after steps 2 to 6; null where they leave none. */
  #largestToken(logits: Float32Array, step: SamplingStep): number | null {
    this.#scanEdited(logits, step);
    return Number.isFinite(this.#row.largest) ? this.#row.bestTokenId : null;
  }

  /** Opens the row after steps 2 to 6. Mutates: the row. */
  #scanEdited(logits: Float32Array, { processors, output }: SamplingStep): void {
    const row = this.#row;
    if (processors.length === 0) row.open(logits);
    else {
      const copy = row.load(logits);
      for (const processor of processors) processor.edit(copy, output);
    }
    row.scan();
  }

  #report(logits: Float32Array, tokenId: number, topCount: number | undefined): SampledToken {
    return topCount === undefined
      ? { tokenId }
      : { tokenId, logprobs: this.readLogprobs(logits, tokenId, topCount) };
  }

  /** The tokens that may be drawn after steps 1 to 11. Valid until the next call. Throws: as `sample` does. */
  narrow(logits: Float32Array, step: SamplingStep): Candidates {
    const row = this.#row;
    const end = this.#edit(logits, step);
    if (end !== null) this.#candidates.keepOnly(end, row.largest);
    else if (step.params.temperature === 0) this.#candidates.keepOnly(row.bestTokenId, row.largest);
    else row.gather(this.#candidates, this.#cut(step.params).lowestLogit);
    return this.#candidates;
  }

  /**
   * Steps 2 to 6. Returns the end token where they ban every token that a constraint allows and the answer is complete.
   * Mutates: the row.
   */
  #edit(logits: Float32Array, step: SamplingStep): number | null {
    const { mask = null, isEdited = step.processors.length > 0 } = step;
    const row = this.#row;
    this.#scanEdited(logits, step);
    if (Number.isFinite(row.largest)) return null;
    if (row.largest === -Infinity && isEdited) {
      if (mask === null) throw nothingLeft();
      if (mask.endTokenId !== null) return mask.endTokenId;
      row.open(logits);
      row.scan();
      if (Number.isFinite(row.largest)) return null;
    }
    throw new Error('The model returned logits that are not numbers.');
  }

  /** Steps 7 to 12. */
  #draw({ params, randomKey, position }: SamplingStep): number {
    const row = this.#row;
    if (params.temperature === 0) return row.bestTokenId;
    const { lowestLogit, weightSum } = this.#cut(params);
    return row.tokenAtWeightSum(Math.floor(uniformAt(randomKey, position) * weightSum), lowestLogit);
  }

  /** Steps 8 to 11. Mutates: the row, where only some tied tokens stay. */
  #cut({ temperature, minP, topK, topP }: SamplingParams): RowCut {
    const row = this.#row;
    const candidates = this.#candidates;
    const scale = weightScale(row.largest, temperature, this.#weightBits);
    let lowestLogit = -LARGEST_FLOAT32;
    if (minP > 0) lowestLogit = Math.max(lowestLogit, minPLimit(row.largest, temperature, minP));
    if (topK > 0 && topK < this.vocabSize) {
      lowestLogit = topKLimit(row, topK, lowestLogit, { candidates, heap: this.#heap });
    }
    const cut = { lowestLogit, weightSum: row.weigh(scale, lowestLogit) };
    return topP < 1 ? cutByTopP(row, cut, { topP, temperature, scale }) : cut;
  }
}

function nothingLeft(): EngineError {
  const message =
    'No token may come next: allowed tokens, bad words and the minimum length rule out all of them.';
  return new EngineError('invalid_request', message, { parameter: 'sampling.allowedTokenIds' });
}
