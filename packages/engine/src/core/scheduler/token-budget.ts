// Pure arithmetic: how many tokens of a sequence a step computes. It knows counts, not sequences.

/**
 * The tokens a sequence may compute in this step. One pending token (a decode) is always served, so that
 * running answers never wait for a prompt; longer runs share what is left of the prefill budget.
 */
export function grantTokens(pendingCount: number, prefillBudgetLeft: number): number {
  if (pendingCount === 1) return 1;
  return Math.min(pendingCount, prefillBudgetLeft);
}
