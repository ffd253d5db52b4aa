// How far logits are from those that are expected. Callers: the tests of exported folders.

import { expect } from 'vitest';

/** The largest difference; NaN where there is one. Fails where the lengths differ. */
export function logitsDistance(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(found.length).toBe(expected.length);
  let largest = 0;
  for (let i = 0; i < found.length; i++) {
    const difference = Math.abs(found[i]! - expected[i]!);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
