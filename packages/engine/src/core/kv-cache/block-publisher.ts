// Publishes blocks of computed tokens in the prefix index, and keeps one block where two sequences computed the same tokens.
// Caller: `block-cache-manager.ts`.

import type { CachePlace, Sequence } from '../sequence.ts';
import type { BlockPool } from './block-pool.ts';
import { type BlockPrefixIndex, NO_BLOCK, type PrefixPlace } from './block-prefix-index.ts';

/** A place for a sequence in the cache. Its blocks are a row of the block table. */
export interface BlockOwner extends CachePlace {
  sequence: Sequence | null;
  /** Shape: `[maximum number of blocks of a sequence]`. Of these the first `blockCount` count. */
  readonly blocks: Int32Array;
  blockCount: number;
  /** Number of its first blocks that are in the index. */
  publishedCount: number;
}

export class BlockPublisher {
  readonly #pool: BlockPool;
  readonly #index: BlockPrefixIndex;
  readonly #blockLength: number;

  constructor(pool: BlockPool, index: BlockPrefixIndex, blockLength: number) {
    this.#pool = pool;
    this.#index = index;
    this.#blockLength = blockLength;
  }

  /**
   * Mutates: publishes the full blocks since the last time; where the index already has the same block, that
   * one replaces the sequence's own.
   */
  publishFull(owner: BlockOwner): void {
    const blockLength = this.#blockLength;
    const fullCount = Math.floor(owner.sequence!.computedLength / blockLength);
    for (; owner.publishedCount < fullCount; owner.publishedCount++) {
      const index = owner.publishedCount;
      const block = owner.blocks[index]!;
      if (this.#index.has(block)) continue;
      const place = placeOf(owner, index, blockLength);
      const known = this.#index.findFull(place);
      if (known === NO_BLOCK) {
        this.#forgetBeginning(place, blockLength);
        this.#index.add(block, place, blockLength);
        continue;
      }
      this.#pool.retain(known);
      this.#pool.release(block, { isKept: false });
      owner.blocks[index] = known;
    }
  }

  /** Mutates: publishes the computed tokens after the last full block, unless the index has a block that begins so. */
  publishTail(owner: BlockOwner): void {
    const blockLength = this.#blockLength;
    const length = owner.sequence!.computedLength % blockLength;
    if (length === 0) return;
    const place = placeOf(owner, owner.publishedCount, blockLength);
    if (this.#index.findBeginning(place, length)?.length === length) return;
    this.#forgetBeginning(place, length);
    this.#index.add(owner.blocks[owner.publishedCount]!, place, length);
  }

  /** Mutates: forgets a block that ends early and whose tokens are the first of `length` tokens that are kept now. */
  #forgetBeginning(place: PrefixPlace, length: number): void {
    const hit = this.#index.findBeginning(place, length);
    if (hit === null || hit.length === length || this.#index.lengthOf(hit.block) !== hit.length) return;
    this.#index.remove(hit.block);
    this.#pool.move(hit.block, { isKept: false });
  }
}

/** Where the tokens of a sequence's block are. */
function placeOf({ sequence, blocks }: BlockOwner, index: number, blockLength: number): PrefixPlace {
  return {
    partition: sequence!.partition,
    parent: index === 0 ? NO_BLOCK : blocks[index - 1]!,
    tokenIds: sequence!.tokenIds,
    start: index * blockLength,
  };
}
