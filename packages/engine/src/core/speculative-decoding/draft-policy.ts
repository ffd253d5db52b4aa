// When a guess at the next tokens is worth its cost: pure arithmetic over how often guesses were right, with costs
// from a table instead of a clock, so that a schedule can be repeated. What is here holds for processors, or for both;
// `device-draft-policy.ts` is for devices. Caller: `prompt-lookup-drafter.ts`.

/** Which drafts pay on one kind of machine. */
export interface DraftPolicy {
  /** Length of the draft of one of `sequenceCount` running sequences whose guesses are right so often; 0: none. */
  chooseLength(rate: number, sequenceCount: number): number;
  /**
   * What the drafts of one step may have at most, when they were chosen one by one; 0 for those that are not made. One entry
   * for each running sequence.
   */
  settle(offers: readonly DraftOffer[]): readonly number[];
}

/** Lengths of drafts that are made. Few, so that few shapes of model calls are prepared. */
export const DRAFT_LENGTHS = [1, 3, 7, 15] as const;
export const LONGEST_DRAFT = 15;

/**
 * What one more token adds to a call of one sequence, and what one more sequence adds to a batched decode. Unit: the
 * cost of one decode alone. Source: `speculation` in bench/README.md and the batches of `decode-step` there.
 */
const TOKEN_COST = 0.2;
const SEQUENCE_COST = 0.3;

/** Most drafted tokens of a step: whoever arrives meanwhile waits for as long as for a chunk of a prompt. */
const STEP_LIMIT = 32;

/** Estimates err: a draft is made only if it promises this many times the tokens of a plain step in the same time. */
export const LEAST_GAIN = 1.1;

/** Where a guess comes from: what followed the same words before, or what a constraint leaves as the only way. */
export type GuessSource = 'text' | 'constraint';

/**
 * Share of right guesses before anything is known. From the text two right ones in a row bring the first draft; the only
 * way of a constraint is mostly written in the tokens that are guessed.
 */
export const FIRST_RATES: Readonly<Record<GuessSource, number>> = { text: 0.1, constraint: 0.9 };
/** Weight of the newest guess in the running share. */
const NEWEST_WEIGHT = 0.2;

/** A draft that is considered. */
export interface DraftOffer {
  /** Share of guessed tokens that are drawn, of those whose predecessors were drawn. */
  readonly rate: number;
  /** 0: no draft. */
  readonly length: number;
}

/** The running share of right guesses after one more. */
export function updateRate(rate: number, { isRight }: { readonly isRight: boolean }): number {
  return rate + NEWEST_WEIGHT * (Number(isRight) - rate);
}

/** Cost of a call that computes one token and its draft. Unit: one decode alone. */
function callCost(draftLength: number): number {
  return 1 + TOKEN_COST * draftLength;
}

/** Cost of one call in which so many sequences get one token each. Unit: one decode alone. */
function batchCost(sequenceCount: number): number {
  return 1 + SEQUENCE_COST * (sequenceCount - 1);
}

/** How many tokens a call with a draft gives on average: one that is drawn anyway, and the right part of the draft. */
export function expectedTokens({ rate, length }: DraftOffer): number {
  let expected = 1;
  for (let i = 1, chance = rate; i <= length; i++, chance *= rate) expected += chance;
  return expected;
}

/**
 * The length that gives most tokens in the time, when all `sequenceCount` running sequences draft alike and share the
 * step; 0 when plain steps, which batch them, give more.
 */
export function chooseDraftLength(rate: number, sequenceCount: number): number {
  let best = 0;
  let bestGain = (LEAST_GAIN * sequenceCount) / batchCost(sequenceCount);
  for (const length of DRAFT_LENGTHS) {
    if (length * sequenceCount > STEP_LIMIT) break;
    const gain = expectedTokens({ rate, length }) / callCost(length);
    if (gain < bestGain) continue;
    best = length;
    bestGain = gain;
  }
  return best;
}

/**
 * Whether each of the running sequences, one offer for each, is expected to go on faster than in a plain step: a
 * sequence with a draft takes a call of its own, and nobody waits for the drafts of others without a gain.
 */
export function areWorthwhile(offers: readonly DraftOffer[]): boolean {
  let cost = 0;
  for (const { length } of offers) cost += callCost(length);
  const least = (LEAST_GAIN * cost) / batchCost(offers.length);
  return offers.every(offer => expectedTokens(offer) >= least);
}

/** All of the sequences draft or none does: a draft is a call of its own, for which the others wait. */
export const PROCESSOR_DRAFTS: DraftPolicy = {
  chooseLength: chooseDraftLength,
  settle(offers) {
    const isMade = offers.every(({ length }) => length > 0) && areWorthwhile(offers);
    return offers.map(({ length }) => (isMade ? length : 0));
  },
};
