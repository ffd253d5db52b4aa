// Paged KV cache: the block tables of all sequences. Sequences with a common prefix share its blocks (prefix caching); blocks
// of ended sequences stay cached and are evicted least recently used first. It alone makes the runner copy blocks. Caller:
// the scheduler.
//
//     tokens   0 ............................ computedLength ........ tokenCount
//              | full blocks, may be shared | last block, its own  | reserved    |
//
// A block is written by the only sequence that has it: a sequence that goes on from another's tokens, or from a cached
// block that it does not fill, gets a copy of that last block when it is admitted, since its next step writes there.

import { assertInvariant } from '../../errors.ts';
import type { Sequence } from '../sequence.ts';
import { findBlockCacheViolations } from './block-cache-invariants.ts';
import { BLOCK_HASHING } from './block-hash.ts';
import { BlockPool } from './block-pool.ts';
import { BlockPrefixIndex, NO_BLOCK } from './block-prefix-index.ts';
import { type BlockOwner, BlockPublisher } from './block-publisher.ts';
import type { CacheEventLog } from './cache-event-log.ts';
import type { Admission, CacheCounters, KvCacheManager } from './kv-cache-manager.ts';
import { PrefixCounters } from './prefix-counters.ts';

/** The part of the runner that the manager uses. */
export interface BlockMover {
  /** Makes block `to` a copy of block `from`. Copies happen in the order of their calls, before the next model call. */
  copyBlock(from: number, to: number): void;
}

export interface BlockCacheSettings {
  readonly blockCount: number;
  readonly blockLength: number;
  /** Maximum number of sequences in the cache at the same time. */
  readonly maxSequences: number;
  /** Maximum number of tokens in a sequence. All blocks together hold at least this many. */
  readonly contextLength: number;
  /** Whether tokens stay cached for later sequences. */
  readonly prefixCaching: boolean;
  /** Records every change of the prefix index. Default: none. */
  readonly events?: CacheEventLog | null | undefined;
}

/** A cache hit: whole blocks, and some tokens of one more. */
interface BlockHit {
  readonly blocks: readonly number[];
  /** The block of which the first `tailLength` tokens are copied, or `NO_BLOCK`. */
  readonly tail: number;
  readonly tailLength: number;
}

const NO_HIT: BlockHit = { blocks: [], tail: NO_BLOCK, tailLength: 0 };

export class BlockCacheManager implements KvCacheManager {
  readonly settings: BlockCacheSettings;
  readonly pool: BlockPool;
  readonly index: BlockPrefixIndex;
  readonly owners: readonly BlockOwner[];
  readonly #mover: BlockMover;
  readonly #publisher: BlockPublisher;
  readonly #counters = new PrefixCounters();
  /** Fewer tokens of a block than these are computed again instead of copied. */
  readonly #minTail: number;
  #ownedCount = 0;

  constructor(mover: BlockMover, settings: BlockCacheSettings) {
    const { blockCount, blockLength, maxSequences, contextLength } = settings;
    const blocksPerSequence = Math.ceil(contextLength / blockLength);
    assertInvariant(blocksPerSequence <= blockCount, 'the cache holds at least one whole context');
    this.settings = settings;
    this.pool = new BlockPool(blockCount);
    this.index = new BlockPrefixIndex(blockCount, blockLength, BLOCK_HASHING, settings.events ?? null);
    this.#publisher = new BlockPublisher(this.pool, this.index, blockLength);
    this.#mover = mover;
    this.#minTail = Math.max(1, blockLength >> 2);
    this.owners = Array.from({ length: maxSequences }, (_, slot) => ({
      slot,
      sequence: null,
      blocks: new Int32Array(blocksPerSequence),
      blockCount: 0,
      publishedCount: 0,
    }));
  }

  get ownedCount(): number {
    return this.#ownedCount;
  }

  get freeCount(): number {
    return Math.min(this.settings.maxSequences - this.#ownedCount, this.pool.freeCount);
  }

  get usedShare(): number {
    return 1 - this.pool.freeCount / this.pool.blockCount;
  }

  get counters(): CacheCounters {
    return this.#counters;
  }

  /** Does nothing: blocks of rejected tokens are written again. */
  startStep(): void {}

  /**
   * Admits a sequence when its tokens fit and every other sequence in the cache can still take a block, so that an admitted
   * sequence is not preempted in the next steps.
   */
  admit(sequence: Sequence): Admission | null {
    assertInvariant(sequence.slot === null, 'a sequence has at most one place');
    const { blockLength } = this.settings;
    const hit = this.#findPrefix(sequence);
    const revivedCount = hit.blocks.filter(block => this.pool.useCount(block) === 0).length;
    const newCount = Math.ceil(sequence.tokenCount / blockLength) - hit.blocks.length;
    if (newCount + revivedCount + this.#ownedCount > this.pool.freeCount) return null;
    const owner = this.owners.find(({ sequence }) => sequence === null);
    assertInvariant(owner !== undefined, 'a place is free when a sequence is admitted');
    for (const [index, block] of hit.blocks.entries()) {
      this.pool.retain(block);
      owner.blocks[index] = block;
    }
    owner.sequence = sequence;
    owner.blockCount = hit.blocks.length;
    owner.publishedCount = 0;
    const tailBlock = owner.blockCount;
    // The allocated block may be the one to copy from; its content is still there for the copy.
    if (hit.tail !== NO_BLOCK && this.pool.useCount(hit.tail) === 0)
      this.pool.move(hit.tail, { isKept: true });
    for (let count = 0; count < newCount; count++) this.#append(owner);
    if (hit.tail !== NO_BLOCK && hit.tail !== owner.blocks[tailBlock])
      this.#mover.copyBlock(hit.tail, owner.blocks[tailBlock]!);
    const cachedLength = hit.blocks.length * blockLength + hit.tailLength;
    this.#ownedCount++;
    this.#counters.count(sequence, cachedLength);
    return { place: owner, cachedLength };
  }

  reserve(sequence: Sequence, tokenCount: number): boolean {
    const owner = this.#ownerOf(sequence);
    const missingCount = Math.ceil(tokenCount / this.settings.blockLength) - owner.blockCount;
    if (missingCount > this.pool.freeCount) return false;
    for (let count = 0; count < missingCount; count++) this.#append(owner);
    return true;
  }

  /** Blocks need no order. */
  arrange(): void {}

  publish(sequence: Sequence): void {
    if (this.settings.prefixCaching) this.#publisher.publishFull(this.#ownerOf(sequence));
  }

  /** Without `keepsPrefix`, blocks that only this sequence has are removed from the index. */
  release(sequence: Sequence, options: { readonly keepsPrefix: boolean }): void {
    const owner = this.#ownerOf(sequence);
    if (options.keepsPrefix && this.settings.prefixCaching) {
      this.#publisher.publishFull(owner);
      this.#publisher.publishTail(owner);
    }
    // From the end, so that a block of a prefix is evicted after those that follow it.
    for (let index = owner.blockCount - 1; index >= 0; index--) {
      const block = owner.blocks[index]!;
      const isLast =
        this.pool.useCount(block) === 1 && this.index.has(block) && !this.index.hasFollowers(block);
      if (!options.keepsPrefix && isLast) this.index.remove(block);
      this.pool.release(block, { isKept: this.index.has(block) });
    }
    owner.sequence = null;
    owner.blockCount = 0;
    this.#ownedCount--;
  }

  findViolations(contextLength: number): string[] {
    return findBlockCacheViolations(this, contextLength);
  }

  #ownerOf(sequence: Sequence): BlockOwner {
    const owner = sequence.slot === null ? undefined : this.owners[sequence.slot];
    assertInvariant(owner?.sequence === sequence, 'a sequence in the cache has its place');
    return owner;
  }

  /** Mutates: allocates one more block for the sequence; its cached content is evicted. */
  #append(owner: BlockOwner): void {
    const block = this.pool.take();
    if (this.index.has(block)) this.index.remove(block);
    owner.blocks[owner.blockCount++] = block;
  }

  #findPrefix(sequence: Sequence): BlockHit {
    const { blockLength, prefixCaching } = this.settings;
    const sibling = this.#siblingPrefix(sequence);
    // A cache has no log probabilities of the prompt.
    if (!prefixCaching || sequence.wantsPromptLogprobs) return sibling;
    const { partition, tokenIds } = sequence;
    const limit = sequence.tokenCount - 1;
    const blocks: number[] = [];
    let parent = NO_BLOCK;
    for (let start = 0; start + blockLength <= limit; start += blockLength) {
      const block = this.index.findFull({ partition, parent, tokenIds, start });
      if (block === NO_BLOCK) break;
      blocks.push(block);
      parent = block;
    }
    if (blocks.length < sibling.blocks.length) return sibling;
    const start = blocks.length * blockLength;
    const tail = this.index.findBeginning({ partition, parent, tokenIds, start }, limit - start);
    const tailLength = tail?.length ?? 0;
    if (blocks.length === sibling.blocks.length && sibling.tailLength >= tailLength) return sibling;
    if (tail === null || tailLength < this.#minTail) return { blocks, tail: NO_BLOCK, tailLength: 0 };
    return { blocks, tail: tail.block, tailLength };
  }

  /** The prompt of another choice of the same request: shared with or without prefix caching. */
  #siblingPrefix(sequence: Sequence): BlockHit {
    const { blockLength } = this.settings;
    const limit = Math.min(sequence.promptLength, sequence.tokenCount - 1);
    let length = 0;
    let best: BlockOwner | null = null;
    for (const other of sequence.group.openSequences) {
      if (other.slot === null || Math.min(other.computedLength, limit) <= length) continue;
      length = Math.min(other.computedLength, limit);
      best = this.#ownerOf(other);
    }
    if (best === null) return NO_HIT;
    // A sequence that shares a published block shares those before it: none of them is given out before it.
    if (this.settings.prefixCaching) this.#publisher.publishFull(best);
    const blocks = Array.from(best.blocks.subarray(0, Math.floor(length / blockLength)));
    const tailLength = length % blockLength;
    return { blocks, tailLength, tail: tailLength === 0 ? NO_BLOCK : best.blocks[blocks.length]! };
  }
}
