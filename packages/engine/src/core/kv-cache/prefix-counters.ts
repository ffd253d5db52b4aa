// Counts lookups in the prefix cache and cache hits. Both cache managers keep one.

import type { Sequence } from '../sequence.ts';
import type { CacheCounters } from './kv-cache-manager.ts';

export class PrefixCounters implements CacheCounters {
  queriedTokenCount = 0;
  hitTokenCount = 0;

  /** Counts the lookup of a request once: later choices and returns after a preemption are no new prompts. */
  count({ group, promptLength }: Sequence, hitLength: number): void {
    if (group.cachedTokenCount !== null) return;
    this.queriedTokenCount += promptLength;
    this.hitTokenCount += Math.min(hitLength, promptLength);
  }
}

/** Whether the sequence's prompt must be computed, cached or not: log probabilities are asked for, and a cache has none. */
export function mustComputePrompt({ group }: Sequence): boolean {
  return group.submitted.promptLogprobs !== undefined && !group.isPrefilled;
}
