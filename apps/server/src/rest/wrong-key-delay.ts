// Slows down the answers to wrong keys, by address: who guesses keys waits, and who has a right one never does.

import { isIPv6 } from 'node:net';

export interface WrongKeyDelay {
  /** How long the refusal of a wrong key has to wait. Counts it. Unit: milliseconds. */
  next(address: string): number;
}

/** Wrong keys of one address that are answered at once; one more each second after that. */
const BURST_COUNT = 10;
const REFILL_PER_MS = 1 / 1_000;
/** The delay grows by this much with each wrong key past the burst. Unit: milliseconds. */
const STEP_MS = 250;
const LONGEST_MS = 5_000;
/** Addresses that are remembered; the ones that were quiet longest are forgotten first. */
const MAX_ADDRESSES = 10_000;

interface Budget {
  /** Wrong keys that are still answered at once; below 0 they wait. */
  left: number;
  atMs: number;
}

/** @param now A clock; only differences of its values matter. Unit: milliseconds. */
export function createWrongKeyDelay(now: () => number): WrongKeyDelay {
  /** In order of use. */
  const budgets = new Map<string, Budget>();
  return {
    next(address) {
      const key = networkOf(address);
      const nowMs = now();
      const budget = budgets.get(key) ?? { left: BURST_COUNT, atMs: nowMs };
      budgets.delete(key);
      budgets.set(key, budget);
      if (budgets.size > MAX_ADDRESSES) budgets.delete(budgets.keys().next().value!);
      budget.left = Math.min(BURST_COUNT, budget.left + (nowMs - budget.atMs) * REFILL_PER_MS) - 1;
      budget.atMs = nowMs;
      if (budget.left >= 0) return 0;
      // A longer debt would change nothing, and would take longer to forget.
      budget.left = Math.max(budget.left, -LONGEST_MS / STEP_MS);
      return Math.ceil(-budget.left * STEP_MS);
    },
  };
}

/** A site has at least 2^64 addresses of IPv6. */
function networkOf(address: string): string {
  return isIPv6(address) && !address.startsWith('::ffff:') ? address.split(':', 4).join(':') : address;
}
