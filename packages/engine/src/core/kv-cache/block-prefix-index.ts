// Prefix index over blocks: a tree whose paths are cached prefixes. Chained hashes find candidates; the tokens of a block
// and its parent block are compared, so that by induction whole prefixes are equal. A block may be partial: the rest of a
// sequence after its last full block.

import { assertInvariant } from '../../errors.ts';
import { BLOCK_HASHING, type BlockHash, type BlockHashing } from './block-hash.ts';
import type { CacheEventLog } from './cache-event-log.ts';

/** Stands for the block before the first one. */
export const NO_BLOCK = -1;

/** Tokens of a prefix in an array, and the block in the tree that they follow. */
export interface PrefixPlace {
  readonly partition: string;
  /** The block before; `NO_BLOCK` for the beginning. */
  readonly parent: number;
  readonly tokenIds: Int32Array;
  /** Where the tokens after `parent` begin in `tokenIds`. */
  readonly start: number;
}

/** A block that begins with `length` of the tokens looked for. */
export interface PartialHit {
  readonly block: number;
  readonly length: number;
}

export class BlockPrefixIndex {
  readonly blockLength: number;
  readonly #hashing: BlockHashing;
  readonly #events: CacheEventLog | null;
  /** By block; 0 for blocks that the index does not know. */
  readonly #lengths: Int32Array;
  readonly #parents: Int32Array;
  /** By block: how many blocks of the index come directly after it. */
  readonly #followerCounts: Int32Array;
  /** Hash of each full block and everything before it. */
  readonly #hashes: Float64Array;
  /** Cache partition of each block at the beginning of a prefix. */
  readonly #partitions: string[];
  /** Shape: `[blockCount, blockLength]`. */
  readonly #tokenIds: Int32Array;
  /** Full blocks by their chained hash. */
  readonly #full = new Map<BlockHash, number[]>();
  /** All blocks by the hash of the prefix before them and of their first token. */
  readonly #beginnings = new Map<BlockHash, number[]>();

  /** `events`: records every change of full blocks. */
  constructor(
    blockCount: number,
    blockLength: number,
    hashing: BlockHashing = BLOCK_HASHING,
    events: CacheEventLog | null = null,
  ) {
    this.blockLength = blockLength;
    this.#hashing = hashing;
    this.#events = events;
    this.#lengths = new Int32Array(blockCount);
    this.#parents = new Int32Array(blockCount).fill(NO_BLOCK);
    this.#followerCounts = new Int32Array(blockCount);
    this.#hashes = new Float64Array(blockCount);
    this.#partitions = new Array<string>(blockCount).fill('');
    this.#tokenIds = new Int32Array(blockCount * blockLength);
  }

  /** Number of indexed tokens of the block; 0 for none. */
  lengthOf(block: number): number {
    return this.#lengths[block]!;
  }

  has(block: number): boolean {
    return this.#lengths[block]! > 0;
  }

  parentOf(block: number): number {
    return this.#parents[block]!;
  }

  /** Whether other blocks of the index come after the block. */
  hasFollowers(block: number): boolean {
    return this.#followerCounts[block]! > 0;
  }

  /** Shape: `[lengthOf(block)]`. */
  tokensOf(block: number): Int32Array {
    const start = block * this.blockLength;
    return this.#tokenIds.subarray(start, start + this.#lengths[block]!);
  }

  /** Entries of both maps. For checks of the bookkeeping. */
  get entryCount(): number {
    let count = 0;
    for (const blocks of this.#full.values()) count += blocks.length;
    for (const blocks of this.#beginnings.values()) count += blocks.length;
    return count;
  }

  /** The full block with these tokens in that place, or `NO_BLOCK`. `tokenIds` has a whole block from `start` on. */
  findFull(place: PrefixPlace): number {
    const candidates = this.#full.get(this.#hash(place, this.blockLength));
    for (const block of candidates ?? [])
      if (
        this.#follows(block, place) &&
        this.#commonLength(block, place, this.blockLength) === this.blockLength
      )
        return block;
    return NO_BLOCK;
  }

  /** The block that begins with most of the `limit` tokens in that place, or null. */
  findBeginning(place: PrefixPlace, limit: number): PartialHit | null {
    if (limit === 0) return null;
    let best: PartialHit | null = null;
    for (const block of this.#beginnings.get(this.#hash(place, 1)) ?? []) {
      if (!this.#follows(block, place)) continue;
      const length = this.#commonLength(block, place, limit);
      if (length > (best?.length ?? 0)) best = { block, length };
    }
    return best;
  }

  /** Mutates: the block holds `length` tokens in that place. Nothing in the index holds the same already. */
  add(block: number, place: PrefixPlace, length: number): void {
    assertInvariant(!this.has(block), 'a block is added to the index once');
    const { partition, parent, tokenIds, start } = place;
    this.#lengths[block] = length;
    this.#parents[block] = parent;
    if (parent === NO_BLOCK) this.#partitions[block] = partition;
    else this.#followerCounts[parent]!++;
    for (let i = 0; i < length; i++) this.#tokenIds[block * this.blockLength + i] = tokenIds[start + i]!;
    push(this.#beginnings, this.#hash(place, 1), block);
    if (length < this.blockLength) return;
    const hash = this.#hash(place, length);
    this.#hashes[block] = hash;
    push(this.#full, hash, block);
    const parentHash = parent === NO_BLOCK ? null : this.#hashes[parent]!;
    this.#events?.stored({ hash, parent: parentHash, partition, tokenIds, start, length });
  }

  /** Mutates: forgets the block. Nothing in the index follows it. */
  remove(block: number): void {
    assertInvariant(!this.hasFollowers(block), 'what follows a block is forgotten first');
    const start = block * this.blockLength;
    const parent = this.#parents[block]!;
    const place = { partition: this.#partitions[block]!, parent, tokenIds: this.#tokenIds, start };
    if (this.#lengths[block] === this.blockLength) {
      drop(this.#full, this.#hashes[block]!, block);
      this.#events?.removed(this.#hashes[block]!);
    }
    drop(this.#beginnings, this.#hash(place, 1), block);
    if (parent !== NO_BLOCK) this.#followerCounts[parent]!--;
    this.#lengths[block] = 0;
    this.#parents[block] = NO_BLOCK;
    this.#partitions[block] = '';
  }

  /** Hash of the first `length` tokens in that place and everything before. */
  #hash({ partition, parent, tokenIds, start }: PrefixPlace, length: number): BlockHash {
    const before = parent === NO_BLOCK ? this.#hashing.hashPartition(partition) : this.#hashes[parent]!;
    return this.#hashing.hashBlock(before, tokenIds, start, length);
  }

  /** Whether the block comes after the same tokens. */
  #follows(block: number, { partition, parent }: PrefixPlace): boolean {
    if (this.#parents[block] !== parent) return false;
    return parent !== NO_BLOCK || this.#partitions[block] === partition;
  }

  #commonLength(block: number, { tokenIds, start }: PrefixPlace, limit: number): number {
    const end = Math.min(this.#lengths[block]!, limit);
    const own = block * this.blockLength;
    let length = 0;
    while (length < end && this.#tokenIds[own + length] === tokenIds[start + length]) length++;
    return length;
  }
}

function push(map: Map<BlockHash, number[]>, hash: BlockHash, block: number): void {
  const blocks = map.get(hash);
  if (blocks === undefined) map.set(hash, [block]);
  else blocks.push(block);
}

function drop(map: Map<BlockHash, number[]>, hash: BlockHash, block: number): void {
  const blocks = map.get(hash)!;
  if (blocks.length === 1) map.delete(hash);
  else blocks.splice(blocks.indexOf(block), 1);
}
