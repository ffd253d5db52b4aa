// What the scheduler asks of whoever keeps keys and values. Implementations: `slot-cache-manager.ts`, one contiguous place
// for each sequence, and `block-cache-manager.ts`, blocks that sequences share. The scheduler knows neither.

import type { Sequence } from '../sequence.ts';

/** Tokens that lookups were about, and those of them that were found. */
export interface CacheCounters {
  readonly queriedTokenCount: number;
  readonly hitTokenCount: number;
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
   * Gives the sequence a place, room for all its tokens, and as many of its first tokens as the cache has, at most all
   * but the last, which must be computed for its logits. `freeCount` is above 0.
   * Returns whether there was room; without it nothing has changed.
   * Mutates: the sequence's place and computed length; cached prefixes may be lost.
   */
  admit(sequence: Sequence): boolean;
  /**
   * Makes room for the first `tokenCount` tokens of an admitted sequence. Returns whether there was room; without it
   * nothing has changed. Mutates: the sequence's place; cached prefixes may be lost.
   */
  reserve(sequence: Sequence, tokenCount: number): boolean;
  /**
   * Brings the decodes of a step into the order in which the runner wants them.
   * Mutates: `decodes`, and the places of sequences.
   */
  arrange(decodes: Sequence[]): void;
  /** Tells that a token was drawn from the sequence's computed tokens: they are good for others too. */
  publish(sequence: Sequence): void;
  /**
   * Takes the sequence's place away. With `keepsPrefix` its computed tokens stay for later sequences until the room is
   * needed. Mutates: the sequence's place and computed length. Does nothing when it is not admitted.
   */
  release(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void;
  /** What is wrong with the bookkeeping, in sentences; empty when nothing is. For tests and diagnosis. */
  findViolations(contextLength: number): string[];
}
