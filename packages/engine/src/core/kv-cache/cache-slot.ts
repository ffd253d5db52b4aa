// What is known about one slot of the physical cache: who uses it, which tokens it holds, which of its prefixes
// the index has been told about. Only the cache manager and the prefix index touch it.

import type { Sequence } from '../sequence.ts';
import type { BlockHash } from './block-hash.ts';

/** Tokens whose keys and values stayed in a slot after their sequence left it. */
export interface CachedPrefix {
  readonly partition: string;
  readonly tokenIds: Int32Array;
}

/**
 * At most one of `owner` and `cached` is set; with neither the slot is empty. A slot object keeps its tokens for
 * life: when contents move to another place of the pool, the object moves along and `index` changes.
 */
export class CacheSlot {
  /** Place in the pool. */
  index: number;
  owner: Sequence | null = null;
  cached: CachedPrefix | null = null;
  /** Hashes of the first full blocks of its tokens, as many as the index knows. */
  readonly blockHashes: BlockHash[] = [];
  /** The manager's clock when the content was last used: the smallest goes first. */
  lastUsed = 0;

  constructor(index: number) {
    this.index = index;
  }

  /** How many tokens' keys and values it holds. */
  get length(): number {
    return this.owner?.computedLength ?? this.cached?.tokenIds.length ?? 0;
  }

  /** The tokens it holds. Shape: at least `[length]`. */
  get tokenIds(): Int32Array {
    return this.owner?.tokenIds ?? this.cached?.tokenIds ?? NO_TOKENS;
  }

  get partition(): string {
    return this.owner?.partition ?? this.cached?.partition ?? '';
  }
}

const NO_TOKENS = new Int32Array(0);
