// Counts lookups in the prefix cache and cache hits. Both cache managers keep one.

import type { Sequence } from '../sequence.ts';
import type { CacheCounters } from './kv-cache-manager.ts';

export class PrefixCounters implements CacheCounters {
  queriedTokenCount = 0;
  hitTokenCount = 0;

  /** Counts the lookup of a request once: later choices and admissions after a preemption do not count. */
  count({ group, promptLength }: Sequence, hitLength: number): void {
    if (group.cachedTokenCount !== null) return;
    this.queriedTokenCount += promptLength;
    this.hitTokenCount += Math.min(hitLength, promptLength);
  }
}
