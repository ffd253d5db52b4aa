// Prefix index over slots: finds the slot that shares the longest prefix with a prompt. Chained block hashes narrow the
// search to a few slots, whose tokens are compared.

import { BLOCK_HASHING, type BlockHash, type BlockHashing } from './block-hash.ts';
import type { CacheEventLog } from './cache-event-log.ts';
import type { CacheSlot } from './cache-slot.ts';

/** The first `length` tokens are in `slot`. */
export interface PrefixHit {
  readonly slot: CacheSlot;
  readonly length: number;
}

/** The longest of a slot's first `limit` tokens that a sequence can go on after; 0 for none. */
export type ContinuableLength = (slot: CacheSlot, limit: number) => number;

export class SlotPrefixIndex {
  readonly blockLength: number;
  readonly #hashing: BlockHashing;
  readonly #events: CacheEventLog | null;
  /** Every slot under the hash of each of its known blocks. */
  readonly #slots = new Map<BlockHash, CacheSlot[]>();

  /**
   * `blockLength`: tokens of a block. Prefixes shorter than one block are never found. `events`: records
   * every change.
   */
  constructor(
    blockLength: number,
    hashing: BlockHashing = BLOCK_HASHING,
    events: CacheEventLog | null = null,
  ) {
    this.blockLength = blockLength;
    this.#hashing = hashing;
    this.#events = events;
  }

  /** Slots known to hold the prefix of that hash. For checks of the bookkeeping. */
  slotsOf(hash: BlockHash): readonly CacheSlot[] {
    return this.#slots.get(hash) ?? [];
  }

  get entryCount(): number {
    let count = 0;
    for (const slots of this.#slots.values()) count += slots.length;
    return count;
  }

  /** Mutates: indexes the full blocks that the slot got since the last call. */
  extend(slot: CacheSlot): void {
    const { blockHashes } = slot;
    const blockCount = Math.floor(slot.length / this.blockLength);
    while (blockHashes.length < blockCount) {
      const parent = blockHashes.at(-1) ?? null;
      const { partition, tokenIds } = slot;
      const start = blockHashes.length * this.blockLength;
      const before = parent ?? this.#hashing.hashPartition(partition);
      const hash = this.#hashing.hashBlock(before, tokenIds, start, this.blockLength);
      blockHashes.push(hash);
      const slots = this.#slots.get(hash);
      if (slots !== undefined) slots.push(slot);
      else {
        this.#slots.set(hash, [slot]);
        this.#events?.stored({ hash, parent, partition, tokenIds, start, length: this.blockLength });
      }
    }
  }

  /** Other slots with the first `length` tokens of this one, of those that are known. Mutates: indexes the slot's full blocks. */
  slotsSharing(slot: CacheSlot, length: number): readonly CacheSlot[] {
    this.extend(slot);
    const hash = slot.blockHashes[Math.floor(length / this.blockLength) - 1];
    if (hash === undefined) return [];
    return this.slotsOf(hash).filter(
      other =>
        other !== slot &&
        other.partition === slot.partition &&
        other.length >= length &&
        commonLength(other.tokenIds, slot.tokenIds, length) === length,
    );
  }

  /** Mutates: removes the slot's blocks after its first `length` tokens from the index. */
  cut(slot: CacheSlot, length: number): void {
    const blockCount = Math.floor(length / this.blockLength);
    while (slot.blockHashes.length > blockCount) {
      const hash = slot.blockHashes.pop()!;
      const slots = this.#slots.get(hash)!;
      if (slots.length > 1) slots.splice(slots.indexOf(slot), 1);
      else {
        this.#slots.delete(hash);
        this.#events?.removed(hash);
      }
    }
  }

  /**
   * The slot that shares the longest prefix with the first `limit` of these tokens within the partition, of those prefixes that can be
   * continued; or null. The end of the shared prefix may be inside a block.
   */
  find(
    partition: string,
    tokenIds: Int32Array,
    limit: number,
    continuableLength: ContinuableLength = (_, length) => length,
  ): PrefixHit | null {
    /** By number of shared blocks. A slot is among those of fewer blocks as well. */
    const candidates: (readonly CacheSlot[])[] = [];
    let hash = this.#hashing.hashPartition(partition);
    for (let start = 0; start + this.blockLength <= limit; start += this.blockLength) {
      hash = this.#hashing.hashBlock(hash, tokenIds, start, this.blockLength);
      const slots = this.#slots.get(hash);
      if (slots === undefined) break;
      candidates.push(slots);
    }
    const seen = new Set<CacheSlot>();
    let best: PrefixHit | null = null;
    for (let blockCount = candidates.length; blockCount > 0; blockCount--) {
      // Slots that were not seen with more blocks share less than one block more.
      if (best !== null && best.length >= (blockCount + 1) * this.blockLength) break;
      for (const slot of candidates[blockCount - 1]!) {
        if (slot.partition !== partition || seen.has(slot)) continue;
        seen.add(slot);
        const shared = commonLength(slot.tokenIds, tokenIds, Math.min(slot.length, limit));
        const length = continuableLength(slot, shared);
        if (length > (best?.length ?? 0)) best = { slot, length };
      }
    }
    return best;
  }
}

/** How many of the first `limit` tokens are the same. */
function commonLength(a: Int32Array, b: Int32Array, limit: number): number {
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}
