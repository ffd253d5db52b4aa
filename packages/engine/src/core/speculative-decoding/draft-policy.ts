// When speculative decoding is worth its cost: pure arithmetic over acceptance rates, with costs from a table instead of a
// clock, so that a schedule can be repeated. The policy here is that of the CPU, `device-draft-policy.ts` has that of GPUs.
// Caller: `prompt-lookup-drafter.ts`.

/** Selects the drafts that pay on one kind of device. */
export interface DraftPolicy {
  /** Length of the draft of one of `sequenceCount` running sequences with this acceptance rate; 0: none. */
  chooseLength(rate: number, sequenceCount: number): number;
  /**
   * The lengths of all drafts of one step, from those that were chosen one by one; 0 for drafts that are not made. One entry
   * for each running sequence.
   */
  settle(offers: readonly DraftOffer[]): readonly number[];
}

/** Lengths of drafts that are made. Few, so that few shapes of model calls are prepared. */
export const DRAFT_LENGTHS = [1, 3, 7, 15] as const;
export const LONGEST_DRAFT = 15;

/**
 * Cost of one more token in a call of one sequence, and of one more sequence in a batched decode. Unit: the cost of one
 * decode alone. Source: `speculation` in bench/README.md and the batches of `decode-step` there.
 */
const TOKEN_COST = 0.2;
const SEQUENCE_COST = 0.3;

/** Maximum number of drafted tokens of a step: a request that arrives meanwhile waits for as long as for a chunk of a prompt. */
const STEP_LIMIT = 32;

/** Estimates err: a draft is made only if it promises this many times the tokens of a plain step in the same time. */
export const MIN_GAIN = 1.1;

/** Where a draft comes from: prompt lookup in the text, or jump-forward decoding under a constraint. */
export type DraftSource = 'text' | 'constraint';

/**
 * Acceptance rates before any token was proposed. Prompt lookup drafts after two right tokens in a row; the only way on
 * under a constraint is mostly written in the longest tokens, which are proposed.
 */
export const FIRST_RATES: Readonly<Record<DraftSource, number>> = { text: 0.1, constraint: 0.9 };
/** Weight of the newest token in the running acceptance rate. */
const NEWEST_WEIGHT = 0.2;

/** A draft that is considered. */
export interface DraftOffer {
  /** Acceptance rate: share of proposed tokens that are drawn, of those whose predecessors were drawn. */
  readonly rate: number;
  /** 0: no draft. */
  readonly length: number;
}

/** The running acceptance rate after one more token. */
export function updateRate(rate: number, { isRight }: { readonly isRight: boolean }): number {
  return rate + NEWEST_WEIGHT * (Number(isRight) - rate);
}

/** Cost of a call that computes one token and its draft. Unit: one decode alone. */
function callCost(draftLength: number): number {
  return 1 + TOKEN_COST * draftLength;
}

/** Cost of one call in which this many sequences get one token each. Unit: one decode alone. */
function batchCost(sequenceCount: number): number {
  return 1 + SEQUENCE_COST * (sequenceCount - 1);
}

/** How many tokens a call with a draft gives on average: one that is drawn anyway, and the accepted part of the draft. */
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
  let bestGain = (MIN_GAIN * sequenceCount) / batchCost(sequenceCount);
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
 * sequence with a draft takes a call of its own, and no sequence waits for the drafts of others without a gain of its own.
 */
export function areWorthwhile(offers: readonly DraftOffer[]): boolean {
  let cost = 0;
  for (const { length } of offers) cost += callCost(length);
  const least = (MIN_GAIN * cost) / batchCost(offers.length);
  return offers.every(offer => expectedTokens(offer) >= least);
}

/** All of the sequences draft or none does: a draft is a call of its own, for which the others wait. */
export const CPU_DRAFTS: DraftPolicy = {
  chooseLength: chooseDraftLength,
  settle(offers) {
    const isMade = offers.every(({ length }) => length > 0) && areWorthwhile(offers);
    return offers.map(({ length }) => (isMade ? length : 0));
  },
};
