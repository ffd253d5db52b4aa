// Finds where a sum over tokens, best first, reaches a target, without sorting them.

import type { LogitsRow } from './logits-row.ts';

/**
 * The logit of the token at which the sum of weights, best first, reaches the target: `massBefore` is that of all tokens
 * better than these. Equals are ranked by id, and those behind the token are forbidden in the row. Mutates: the order of
 * `ids`, and `row` where equals do not all stay.
 */
export function selectByMass(row: LogitsRow, ids: Int32Array, massBefore: number, target: number): number {
  const { logits, weights } = row;
  let [start, end] = [0, ids.length];
  let mass = massBefore;
  for (;;) {
    // Better tokens to the front, worse ones to the back, equals of one of them in the middle.
    const pivot = logits[ids[(start + end) >> 1]!]!;
    let [better, worse] = [start, end];
    let [betterMass, equalWeight] = [0, 0];
    for (let i = start; i < worse; ) {
      const id = ids[i]!;
      const logit = logits[id]!;
      if (logit > pivot) {
        betterMass += weights[id]!;
        ids[i++] = ids[better]!;
        ids[better++] = id;
      } else if (logit < pivot) {
        ids[i] = ids[--worse]!;
        ids[worse] = id;
      } else {
        equalWeight = weights[id]!;
        i++;
      }
    }
    const equalCount = worse - better;
    if (mass + betterMass >= target) end = better;
    else if (mass + betterMass + equalCount * equalWeight < target) {
      mass += betterMass + equalCount * equalWeight;
      start = worse;
    } else {
      let keptCount = 0;
      for (let sum = mass + betterMass; sum < target; sum += equalWeight) keptCount++;
      if (keptCount < equalCount) row.forbidEquals(pivot, keptCount);
      return pivot;
    }
  }
}
