// The beam search: selects the beams to keep and the best answers, on ids and numbers only. `beam-generation.ts` fetches the
// candidates of each step.

import type { TokenLogprobs } from '../../request/token-logprobs.ts';

export interface BeamSearchOptions {
  readonly promptTokenIds: Int32Array;
  /** Beams kept, and answers given. */
  readonly width: number;
  /** Exponent of the length by which the sum of log probabilities is divided. */
  readonly lengthPenalty: number;
  /** Maximum number of generated tokens of a beam. */
  readonly maxTokens: number;
  /** The token that ends a beam; null when the model has none. */
  readonly eosTokenId: number | null;
  /** End-of-sequence is a token like any other. */
  readonly ignoreEos: boolean;
  /** The token that ended a beam is kept in its tokens. */
  readonly keepsEos: boolean;
}

/** A token of a beam and the candidates at its place. Shared by all beams that go on from it. */
export interface BeamStep {
  readonly before: BeamStep | null;
  readonly logprobs: TokenLogprobs;
}

export interface Beam {
  /** Prompt and generated tokens. */
  readonly tokenIds: Int32Array;
  /** Sum of the log probabilities of the generated tokens, that of the ending token included. */
  readonly sum: number;
  /**
   * Log probabilities of the last generated token; null before the first. Without the ending token unless
   * that is kept.
   */
  readonly lastStep: BeamStep | null;
}

export interface FinishedBeam extends Beam {
  readonly reason: 'stop' | 'length';
  /** `sum / length ^ lengthPenalty`. */
  readonly score: number;
}

interface Candidate {
  readonly beam: Beam;
  readonly logprobs: TokenLogprobs;
  readonly sum: number;
}

/** Relative tolerance for rounding in the bound that ends the search. */
const BOUND_MARGIN = 1e-9;

/**
 * Source: the beam search of vLLM, with one addition: it ends as soon as no live beam can still beat an answer, which
 * changes no result.
 */
export class BeamSearch {
  readonly #options: BeamSearchOptions;
  /** Best sum first. */
  #live: readonly Beam[];
  /** The best `width` of those that ended so far, best score first; ties in the order in which they ended. */
  #finished: readonly FinishedBeam[] = [];
  #stepCount = 0;

  constructor(options: BeamSearchOptions) {
    this.#options = options;
    this.#live = [{ tokenIds: options.promptTokenIds, sum: 0, lastStep: null }];
  }

  /** The beams whose next tokens are to be looked up. */
  get liveBeams(): readonly Beam[] {
    return this.#live;
  }

  /** Candidates to look at after each beam. */
  get candidateCount(): number {
    return 2 * this.#options.width;
  }

  get isDone(): boolean {
    return this.#stepCount >= this.#options.maxTokens || this.#live.length === 0 || this.#isDecided();
  }

  /** Takes one step. `nextTokens` has the best tokens after each live beam, in their order. Mutates: the search. */
  advance(nextTokens: readonly Pick<TokenLogprobs, 'topTokenIds' | 'topLogprobs'>[]): void {
    const { eosTokenId, ignoreEos, width } = this.#options;
    const candidates: Candidate[] = [];
    const ended: FinishedBeam[] = [];
    for (const [index, beam] of this.#live.entries()) {
      for (const logprobs of toCandidates(nextTokens[index]!, this.candidateCount)) {
        const candidate = { beam, logprobs, sum: beam.sum + logprobs.logprob };
        if (logprobs.tokenId === eosTokenId && !ignoreEos) ended.push(this.#end(candidate));
        else candidates.push(candidate);
      }
    }
    this.#finished = this.#best([...this.#finished, ...ended]);
    this.#live = candidates
      .sort((a, b) => descending(a.sum, b.sum))
      .slice(0, width)
      .map(extend);
    this.#stepCount++;
  }

  /** The answers, best first. Beams that are still live count as cut by the length. */
  answers(): readonly FinishedBeam[] {
    const cut = this.#live.map(beam => ({ ...beam, reason: 'length' as const, score: this.#score(beam) }));
    return this.#best([...this.#finished, ...cut]);
  }

  #end(candidate: Candidate): FinishedBeam {
    const { beam, sum } = candidate;
    const ended = this.#options.keepsEos ? extend(candidate) : { ...beam, sum };
    return { ...ended, reason: 'stop', score: this.#score(ended) };
  }

  #best(beams: readonly FinishedBeam[]): readonly FinishedBeam[] {
    // A stable sort, so that ties keep their order.
    return [...beams].sort((a, b) => descending(a.score, b.score)).slice(0, this.#options.width);
  }

  #score({ tokenIds, sum }: Beam): number {
    const endsInEos = tokenIds.at(-1) === this.#options.eosTokenId;
    // A prompt that is nothing but an end-of-sequence token would have length 0.
    const length = Math.max(1, tokenIds.length - Number(endsInEos));
    return sum / length ** this.#options.lengthPenalty;
  }

  /**
   * Whether every answer is better than anything the live beams can become: sums only fall, and of the lengths
   * still possible the longest (or with a negative penalty the shortest) divides them best.
   */
  #isDecided(): boolean {
    const { width, lengthPenalty, promptTokenIds, maxTokens } = this.#options;
    const [bestLive] = this.#live;
    const worstAnswer = this.#finished[width - 1];
    if (bestLive === undefined || worstAnswer === undefined) return false;
    const shortest = Math.max(1, bestLive.tokenIds.length - 1);
    const longest = promptTokenIds.length + maxTokens;
    const bound = bestLive.sum / (lengthPenalty < 0 ? shortest : longest) ** lengthPenalty;
    return worstAnswer.score > bound + Math.abs(bound) * BOUND_MARGIN;
  }
}

/** The steps of a beam, first to last. */
export function stepsOf(beam: Beam): readonly TokenLogprobs[] {
  const steps: TokenLogprobs[] = [];
  for (let step = beam.lastStep; step !== null; step = step.before) steps.push(step.logprobs);
  return steps.reverse();
}

function extend({ beam, logprobs, sum }: Candidate): Beam {
  const tokenIds = new Int32Array(beam.tokenIds.length + 1);
  tokenIds.set(beam.tokenIds);
  tokenIds[beam.tokenIds.length] = logprobs.tokenId;
  return { tokenIds, sum, lastStep: { before: beam.lastStep, logprobs } };
}

/** Each of the best `count` tokens as the one that was taken. */
function toCandidates(
  { topTokenIds, topLogprobs }: Pick<TokenLogprobs, 'topTokenIds' | 'topLogprobs'>,
  count: number,
): readonly TokenLogprobs[] {
  return Array.from(topTokenIds.subarray(0, count), (tokenId, index) => {
    const logprob = topLogprobs[index]!;
    return { tokenId, logprob, rank: topLogprobs.indexOf(logprob) + 1, topTokenIds, topLogprobs };
  });
}

/** For sorting, safe with infinities. */
function descending(a: number, b: number): number {
  return a === b ? 0 : a > b ? -1 : 1;
}
