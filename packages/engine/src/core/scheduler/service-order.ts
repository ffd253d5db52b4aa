// Service order: lower priority values first, then the turns of shares, then earlier requests, then lower choices. All
// priorities are 0 with the policy `fcfs`, and the turns of one share are those of arrival, so one order serves all policies.

import type { Sequence } from '../sequence.ts';

/** Below 0 when `a` is served before `b`. 0 only for the same sequence. */
export function compareService(a: Sequence, b: Sequence): number {
  return (
    a.priority - b.priority ||
    a.group.virtualStart - b.group.virtualStart ||
    a.group.arrival - b.group.arrival ||
    // Requests that continue the same one arrived together.
    a.group.requestId - b.group.requestId ||
    a.choiceIndex - b.choiceIndex
  );
}

/** Index of the first of the ordered sequences that is not served before this one. */
export function findPlace(ordered: readonly Sequence[], sequence: Sequence): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareService(ordered[middle]!, sequence) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
