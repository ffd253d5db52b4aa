// Rows of model calls and the tokens in them. Callers: the tests of runners of `slots` graphs.

import type { RunnerRow } from '@ortler/engine/testing';

export function row(
  slot: number,
  computedLength: number,
  tokenIds: readonly number[],
  logitsCount = 1,
): RunnerRow {
  return { slot, computedLength, tokenIds: Int32Array.from(tokenIds), logitsCount };
}

/** Token ids that look random and are the same every time. */
export function tokens(count: number, seed: number): number[] {
  return Array.from({ length: count }, (_, i) => (seed * 7919 + i * 104_729 + i * i * 31) % 288);
}
