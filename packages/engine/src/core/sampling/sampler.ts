// Picks the next token of one row of logits. The order of the steps is documented here and nowhere else.

import { EngineError } from '../../errors.ts';
import type { SamplingParams } from '../../request/sampling-params.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import { Candidates } from './candidates.ts';
import { type CounterKey, uniformAt } from './counter-random.ts';
import type { RowKernels } from './kernels/row-kernels.ts';
import { exactWeightBits, type WeightScale, weightScale } from './kernels/token-weight.ts';
import type { LogitsProcessor, OutputView } from './logits-processor.ts';
import { LogitsRow } from './logits-row.ts';
import { readRowLogprobs } from './logprobs.ts';
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
}

export interface SampledToken {
  readonly tokenId: number;
  /** Only when asked for. */
  readonly logprobs?: TokenLogprobs;
}

const LARGEST_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;
/** Scores down to which top-p looks for its tokens, one after the other until they weigh enough. */
const TOP_P_DEPTHS = [-4, -8, -16, -Infinity] as const;

/** One per model; keeps buffers of the vocabulary's size. */
export class Sampler {
  readonly vocabSize: number;
  readonly #row: LogitsRow;
  readonly #candidates: Candidates;
  readonly #weightBits: number;

  /** Other `kernels` than the fastest are for comparisons. */
  constructor(vocabSize: number, kernels?: RowKernels) {
    this.vocabSize = vocabSize;
    this.#row = new LogitsRow(vocabSize, kernels);
    this.#candidates = new Candidates(vocabSize);
    this.#weightBits = exactWeightBits(vocabSize);
  }

  /**
   * The next token. Shape: `logits` is `[vocabSize]`.
   *
   * Order:
   *  1. log probabilities are those of the row as it comes;
   *  2. allowed tokens; 3. bad words; 4. no ends before the minimum length;
   *  5. bias; 6. repetition penalty, frequency penalty, presence penalty (2 to 6: `createLogitsProcessors`);
   *  7. temperature 0 takes the largest logit, the lowest id of equals; else
   *  8. temperature; 9. min-p; 10. top-k, ties kept; 11. top-p on what is left, renormalised;
   * 12. one draw: the token at which the running sum of weights, in id order, passes a random share of it.
   * Source: the sampling pipeline of vLLM, whose wire format the service speaks.
   * Throws: `invalid_request` when steps 2 to 4 leave no token; an Error when the row is not made of numbers, that
   * is, when the model is broken.
   */
  sample(logits: Float32Array, step: SamplingStep): SampledToken {
    const row = this.#row;
    const { topLogprobCount, processors } = step;
    this.#edit(logits, step);
    const tokenId = this.#draw(step);
    if (topLogprobCount === undefined) return { tokenId };
    if (processors.length > 0) {
      row.load(logits);
      row.scan();
    }
    return { tokenId, logprobs: readRowLogprobs(row, this.#candidates, tokenId, topLogprobCount) };
  }

  /**
   * What the model itself thought of a token that was not drawn here, and of the best ones. Shape: `logits` is
   * `[vocabSize]`. Throws: an Error when the row is not made of numbers.
   */
  readLogprobs(logits: Float32Array, tokenId: number, topCount: number): TokenLogprobs {
    this.#row.load(logits);
    this.#row.scan();
    return readRowLogprobs(this.#row, this.#candidates, tokenId, topCount);
  }

  /**
   * The tokens that may be drawn after steps 1 to 11, with their weights; one when the temperature is 0. Valid until
   * the next call. Throws: as `sample` does.
   */
  narrow(logits: Float32Array, step: SamplingStep): Candidates {
    this.#edit(logits, step);
    const { temperature } = step.params;
    if (temperature === 0) this.#candidates.keepOnly(this.#row.bestTokenId, this.#row.largest);
    else this.#narrow(step.params, weightScale(this.#row.largest, temperature, this.#weightBits));
    return this.#candidates;
  }

  /** Steps 2 to 6. Mutates: the row. */
  #edit(logits: Float32Array, { processors, output }: SamplingStep): void {
    const row = this.#row;
    row.load(logits);
    for (const process of processors) process(row.logits, output);
    row.scan();
    if (Number.isFinite(row.largest)) return;
    if (row.largest === -Infinity && processors.length > 0) throw nothingLeft();
    throw new Error('The model returned logits that are not numbers.');
  }

  /** Steps 7 to 12. */
  #draw({ params, randomKey, position }: SamplingStep): number {
    const row = this.#row;
    if (params.temperature === 0) return row.bestTokenId;
    const scale = weightScale(row.largest, params.temperature, this.#weightBits);
    const uniform = uniformAt(randomKey, position);
    if (params.minP > 0 || params.topP < 1 || this.#limitsCount(params)) {
      return tokenAtShare(this.#candidates, this.#narrow(params, scale), uniform);
    }
    return row.tokenAtMass(Math.floor(uniform * row.weigh(scale)), scale);
  }

  /** Steps 8 to 11: the sum of weights of the candidates that stay. Mutates: `#candidates`. */
  #narrow(params: SamplingParams, scale: WeightScale): number {
    const row = this.#row;
    const candidates = this.#candidates;
    const { temperature, minP, topK, topP } = params;
    const topPScale = { largest: row.largest, temperature };
    if (minP > 0 || this.#limitsCount(params) || topP >= 1) {
      const lowestLogit = Math.max(
        -LARGEST_FLOAT32,
        this.#limitsCount(params) ? row.boundOfBest(topK) : -Infinity,
      );
      // `p >= minP * max(p)` is a limit on scores, as the normaliser cancels.
      row.gather(candidates, {
        lowestLogit,
        lowestScore: minP > 0 ? Math.log(minP) : -Infinity,
        temperature,
      });
      if (this.#limitsCount(params)) applyTopK(candidates, topK);
      const total = candidates.weigh(scale);
      if (topP >= 1) return total;
      applyTopP(candidates, topP * total, topPScale);
    } else {
      const target = topP * row.weigh(scale);
      for (const lowestScore of TOP_P_DEPTHS) {
        row.gather(candidates, { lowestLogit: -LARGEST_FLOAT32, lowestScore, temperature });
        if (candidates.weigh(scale) >= target) break;
      }
      applyTopP(candidates, target, topPScale);
    }
    return sumOfWeights(candidates);
  }

  #limitsCount({ topK }: SamplingParams): boolean {
    return topK > 0 && topK < this.vocabSize;
  }
}

function nothingLeft(): EngineError {
  const message =
    'No token may come next: allowed tokens, bad words and the minimum length rule out all of them.';
  return new EngineError('invalid_request', message, { parameter: 'sampling.allowedTokenIds' });
}

function sumOfWeights({ weights, count }: Candidates): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += weights[i]!;
  return total;
}

/** The candidate at which the running sum of weights, in id order, passes that share of `total`. */
function tokenAtShare({ tokenIds, weights }: Candidates, total: number, uniform: number): number {
  let left = Math.floor(uniform * total);
  let i = 0;
  // Sums of weights are exact and `uniform` is below 1, so this ends before the candidates do.
  for (; left >= weights[i]!; i++) left -= weights[i]!;
  return tokenIds[i]!;
}
