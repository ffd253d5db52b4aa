// The bookkeeping of one slot of the physical cache: its owner, the tokens it holds, and which of its prefixes are in the
// prefix index. Only the cache manager and the prefix index change it.

import type { RowStates } from '../runners/model-runner.ts';
import { type CachePlace, NO_BLOCKS, type Sequence } from '../sequence.ts';
import type { BlockHash } from './block-hash.ts';

/** Tokens whose keys and values stayed in a slot after their sequence left it. */
export interface CachedPrefix {
  readonly partition: string;
  readonly tokenIds: Int32Array;
}

/** An entry of the pool with the state after the first `length` tokens of its holders. */
export interface SlotState {
  readonly entry: number;
  readonly length: number;
  /** Kept when its sequence goes on. */
  readonly isBorder: boolean;
  readonly holders: Set<CacheSlot>;
  /** The manager's clock: the smallest is evicted first. */
  lastUsed: number;
}

/** Keys and values of a piece of positions in layers with a window, saved before their rings overwrote it. */
export interface SavedPiece {
  /** Entry of the pool. */
  readonly entry: number;
  /** Its first position. */
  readonly start: number;
  readonly holders: Set<CacheSlot>;
  /** The manager's clock when another sequence went on after it or had the same tokens; 0: never. */
  lastUsed: number;
}

/**
 * At most one of `owner` and `cached` is set; with neither the slot is empty. A slot object stays with its tokens: when
 * they move to another slot of the pool, the object moves along and `slot` changes.
 */
export class CacheSlot implements CachePlace {
  /** Index in the pool. */
  slot: number;
  readonly blocks = NO_BLOCKS;
  owner: Sequence | null = null;
  cached: CachedPrefix | null = null;
  /** Hashes of the first full blocks of its tokens, as many as the index knows. */
  readonly blockHashes: BlockHash[] = [];
  /** The manager's clock when the content was last used: the smallest is evicted first. */
  lastUsed = 0;
  /**
   * With ring caches: positions before this one may have been overwritten, also by a draft that was not
   * accepted.
   */
  lostLength = 0;
  /** With ring caches: saved pieces of the slot's tokens, by their first positions. */
  readonly pieces = new Map<number, SavedPiece>();
  /** With a recurrent model: the slot's states, by ascending length. */
  readonly states: SlotState[] = [];
  /** With a recurrent model: states of the next step's row. */
  rowStates: RowStates | undefined = undefined;

  constructor(slot: number) {
    this.slot = slot;
  }

  /** Number of tokens whose keys and values it holds. */
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
