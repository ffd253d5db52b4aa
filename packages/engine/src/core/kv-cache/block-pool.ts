// Block pool: reference counts of all blocks, and the free blocks in the order of eviction. `block-prefix-index.ts` knows the
// content of blocks.
//
//     free list   first ......................................... last
//                 | blocks without cached tokens | cached, least recently used first |

import { assertInvariant } from '../../errors.ts';

export class BlockPool {
  readonly blockCount: number;
  /** Shape: `[blockCount]`. */
  readonly #useCounts: Int32Array;
  /** Neighbours in the free list, which is a ring through `blockCount`. Shape: `[blockCount + 1]`. */
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  #freeCount: number;

  constructor(blockCount: number) {
    this.blockCount = blockCount;
    this.#freeCount = blockCount;
    this.#useCounts = new Int32Array(blockCount);
    const ring = blockCount + 1;
    this.#next = Int32Array.from({ length: ring }, (_, block) => (block + 1) % ring);
    this.#previous = Int32Array.from({ length: ring }, (_, block) => (block + blockCount) % ring);
  }

  get freeCount(): number {
    return this.#freeCount;
  }

  /** Reference count: the number of sequences that use the block; 0 for a free one. */
  useCount(block: number): number {
    return this.#useCounts[block]!;
  }

  /** The free blocks in the order in which they will be allocated. For checks of the bookkeeping. */
  freeBlocks(): number[] {
    const blocks: number[] = [];
    for (let block = this.#next[this.blockCount]!; block !== this.blockCount; block = this.#next[block]!)
      blocks.push(block);
    return blocks;
  }

  /** Allocates the least recently used free block. Mutates: takes it off the free list; it has one use. */
  take(): number {
    const block = this.#next[this.blockCount]!;
    assertInvariant(block !== this.blockCount, 'a block is taken only while one is free');
    this.retain(block);
    return block;
  }

  /** Mutates: counts one more use of the block, free or not. */
  retain(block: number): void {
    if (this.#useCounts[block] === 0) this.#unlink(block);
    this.#useCounts[block]!++;
  }

  /** Mutates: counts one use less. After the last one the block is free: allocated last if it stays cached, else first. */
  release(block: number, options: { readonly isKept: boolean }): void {
    assertInvariant(this.#useCounts[block]! > 0, 'a block that is released was in use');
    if (--this.#useCounts[block]! > 0) return;
    const end = this.blockCount;
    if (options.isKept) this.#link(block, this.#previous[end]!);
    else this.#link(block, end);
  }

  /** Mutates: moves a free block to the end (cached) or the start of the free list. */
  move(block: number, options: { readonly isKept: boolean }): void {
    this.retain(block);
    this.release(block, options);
  }

  /** Mutates: puts the block after that one in the ring. */
  #link(block: number, before: number): void {
    const after = this.#next[before]!;
    this.#next[before] = block;
    this.#previous[block] = before;
    this.#next[block] = after;
    this.#previous[after] = block;
    this.#freeCount++;
  }

  #unlink(block: number): void {
    const [before, after] = [this.#previous[block]!, this.#next[block]!];
    this.#next[before] = after;
    this.#previous[after] = before;
    this.#freeCount--;
  }
}
