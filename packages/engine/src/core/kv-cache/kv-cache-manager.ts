// The interface between the scheduler and the bookkeeping of the KV cache. Implementations: `slot-cache-manager.ts`, one
// contiguous slot for each sequence, and `block-cache-manager.ts`, blocks that sequences share. Managers read sequences and
// change only their own bookkeeping: the scheduler assigns and removes the places of sequences.

import type { CachePlace, Sequence } from '../sequence.ts';

/** Tokens of prompts that were looked up in the prefix cache, and cache hits among them. */
export interface CacheCounters {
  readonly queriedTokenCount: number;
  readonly hitTokenCount: number;
}

/** The result of an admission. */
export interface Admission {
  readonly place: CachePlace;
  /** How many of its first tokens are in the cache already (prefix caching). */
  readonly cachedLength: number;
}

export interface KvCacheManager {
  readonly counters: CacheCounters;
  /** Sequences that are admitted. */
  readonly ownedCount: number;
  /** Number of sequences that can still be admitted; an upper bound where that depends on their lengths. */
  readonly freeCount: number;
  /** Share of the cache that admitted sequences hold, 0 to 1; cached prefixes count as free. */
  readonly usedShare: number;
  /** Frees what was reserved for the last step and not computed. Once before the reservations of each step. */
  startStep(): void;
  /**
   * Reserves a place for all tokens of the sequence, which the caller assigns next, and looks up its longest cached prefix,
   * at most all tokens but the last, which must be computed for its logits. `freeCount` is above 0.
   * Null: the cache is full, and nothing has changed. Otherwise cached prefixes may have been evicted.
   */
  admit(sequence: Sequence): Admission | null;
  /**
   * Reserves memory for the first `tokenCount` tokens of an admitted sequence, which the next step may write. Returns false, and
   * changes nothing, when the cache is full. Mutates: the blocks of its place; cached prefixes may be evicted.
   */
  reserve(sequence: Sequence, tokenCount: number): boolean;
  /**
   * Orders the decodes of a step for the runner.
   * Mutates: `decodes`, and the places of sequences.
   */
  arrange(decodes: Sequence[]): void;
  /**
   * A token was sampled after the sequence's computed tokens: from now on other sequences may share those.
   */
  publish(sequence: Sequence): void;
  /**
   * Frees the place of an admitted sequence, which the caller removes next. With `keepsPrefix` its computed tokens stay
   * cached for later sequences until they are evicted.
   */
  release(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void;
  /** Violations of the bookkeeping, in sentences; empty when all invariants hold. For tests and diagnosis. */
  findViolations(contextLength: number): string[];
}
