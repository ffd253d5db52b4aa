// The interface between the scheduler and the bookkeeping of the KV cache. Implementations: `slot-cache-manager.ts`, one
// contiguous slot for each sequence, and `block-cache-manager.ts`, blocks that sequences share. Managers read sequences and
// change only their own bookkeeping: the scheduler gives sequences their places and takes them away.

import type { CachePlace, Sequence } from '../sequence.ts';

/** Tokens of prompts that were looked up in the prefix cache, and cache hits among them. */
export interface CacheCounters {
  readonly queriedTokenCount: number;
  readonly hitTokenCount: number;
}

/** What a sequence got when it was admitted. */
export interface Admission {
  readonly place: CachePlace;
  /** How many of its first tokens are in the cache already (prefix caching). */
  readonly cachedLength: number;
}

export interface KvCacheManager {
  readonly counters: CacheCounters;
  /** Sequences that are admitted. */
  readonly ownedCount: number;
  /** How many more sequences can be admitted, as far as that is known without their lengths. */
  readonly freeCount: number;
  /** Share of the cache that admitted sequences hold; what is only kept for later ones counts as free. 0 to 1. */
  readonly usedShare: number;
  /**
   * Reserves a place with room for all tokens of the sequence, which the caller gives it next, and finds as many of its first
   * tokens as the cache has, at most all but the last, which must be computed for its logits. `freeCount` is above 0.
   * Null: there is no room, and nothing has changed. Otherwise cached prefixes may be lost.
   */
  admit(sequence: Sequence): Admission | null;
  /**
   * Makes room for the first `tokenCount` tokens of an admitted sequence. Returns whether there was room; without it
   * nothing has changed. Mutates: the blocks of its place; cached prefixes may be lost.
   */
  reserve(sequence: Sequence, tokenCount: number): boolean;
  /**
   * Brings the decodes of a step into the order in which the runner wants them.
   * Mutates: `decodes`, and the places of sequences.
   */
  arrange(decodes: Sequence[]): void;
  /** A token was drawn from the sequence's computed tokens: others may share them from now on. */
  publish(sequence: Sequence): void;
  /**
   * Frees the place of an admitted sequence, which the caller takes away from it next. With `keepsPrefix` its computed tokens
   * stay cached for later sequences until the room is needed.
   */
  release(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void;
  /** What is wrong with the bookkeeping, in sentences; empty when nothing is. For tests and diagnosis. */
  findViolations(contextLength: number): string[];
}
