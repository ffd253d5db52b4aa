// When speculative decoding is worth its cost on a GPU: drafts are rows of the one call of a step, and the call lasts as
// long as reading the weights until arithmetic takes longer. ADR 35 has the numbers behind the table.

import { DRAFT_LENGTHS, type DraftPolicy, expectedTokens, MIN_GAIN } from './draft-policy.ts';

/**
 * Cost of one more token in a call, of any sequence: a call of 17 tokens is taken to last twice as long as a
 * call of one. Unit: the cost of a call of one token.
 */
const TOKEN_COST = 1 / 16;

/** Maximum number of drafted tokens of a step in which all sequences draft: half of a prompt's chunk beside answers. */
const STEP_LIMIT = 64;

/** A sequence without a draft waits at most this much longer for the drafts of others. */
const LARGEST_DELAY = 0.25;

/** Cost of a call in which this many sequences get one token each. Unit: a call of one token. */
function callCost(sequenceCount: number): number {
  return 1 + TOKEN_COST * (sequenceCount - 1);
}

/** Tokens that all sequences together get, without drafts, in the time that one more token in a call takes. */
function tokenPrice(sequenceCount: number): number {
  return (TOKEN_COST * sequenceCount) / callCost(sequenceCount);
}

/** The length that brings most tokens beyond what its time is worth. */
function chooseLength(rate: number, sequenceCount: number): number {
  const price = MIN_GAIN * tokenPrice(sequenceCount);
  let best = 0;
  let bestGain = expectedTokens({ rate, length: 0 });
  for (const length of DRAFT_LENGTHS) {
    const gain = expectedTokens({ rate, length }) - price * length;
    if (gain <= bestGain) continue;
    best = length;
    bestGain = gain;
  }
  return best;
}

/** Maximum number of drafted tokens of a step, over all its sequences. */
function stepLimit(sequenceCount: number, draftCount: number): number {
  if (draftCount === sequenceCount) return STEP_LIMIT;
  return Math.floor((LARGEST_DELAY * callCost(sequenceCount)) / TOKEN_COST);
}

export const DEVICE_DRAFTS: DraftPolicy = {
  chooseLength,
  settle(offers) {
    const draftCount = offers.filter(({ length }) => length > 0).length;
    const limit = stepLimit(offers.length, draftCount);
    const share = Math.max(1, Math.floor(limit / Math.max(1, draftCount)));
    let left = limit;
    return offers.map(({ length }) => {
      const settled = Math.min(length, share, left);
      left -= settled;
      return settled;
    });
  },
};
