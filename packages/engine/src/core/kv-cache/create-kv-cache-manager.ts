// Creates the cache manager of a runner, for slots or for blocks: the only place that distinguishes the two.

import type { ModelRunner } from '../runners/model-runner.ts';
import { BlockCacheManager } from './block-cache-manager.ts';
import type { CacheEventLog } from './cache-event-log.ts';
import type { KvCacheManager } from './kv-cache-manager.ts';
import { SlotCacheManager } from './slot-cache-manager.ts';

export interface KvCacheSettings {
  /** Maximum number of sequences that run at the same time. */
  readonly maxSequences: number;
  /** Whether tokens of ended sequences stay cached for later ones. */
  readonly prefixCaching: boolean;
  /** Tokens of a block of the prefix index over slots. A paged runner reports its own block length. */
  readonly indexBlockLength: number;
  /** Records every change of the prefix index; null: nobody reads it. */
  readonly events: CacheEventLog | null;
}

export function createKvCacheManager(runner: ModelRunner, settings: KvCacheSettings): KvCacheManager {
  const { maxSequences, prefixCaching, indexBlockLength, events } = settings;
  const { slotCount, contextLength } = runner.facts;
  if (runner.cacheKind === 'blocks') {
    const { blockCount, blockLength } = runner;
    const shape = { blockCount, blockLength, maxSequences, contextLength };
    return new BlockCacheManager(runner, { ...shape, prefixCaching, events });
  }
  return new SlotCacheManager(runner, {
    slotCount,
    maxSequences,
    prefixCaching,
    blockLength: indexBlockLength,
    rings: runner.rings,
    states: runner.states,
    events,
  });
}
