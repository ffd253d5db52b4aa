// Log of changes of the prefix index, for routers that send requests to where their prefix is cached. Writers: the two prefix
// indexes. Reader: `engine-core.ts`, which sends what a step changed with the message of the step. Without a reader there is
// no log, and the indexes do nothing for it.

import type { CacheEvent } from '../../protocol/cache-event.ts';
import type { BlockHash } from './block-hash.ts';

/** A block that follows the block with the hash `parent`; null for the first of a prefix. */
export interface StoredBlock {
  readonly hash: BlockHash;
  readonly parent: BlockHash | null;
  readonly partition: string;
  readonly tokenIds: Int32Array;
  /** Where its tokens begin in `tokenIds`, and how many they are. */
  readonly start: number;
  readonly length: number;
}

interface StoredRun {
  readonly kind: 'stored';
  readonly blockHashes: BlockHash[];
  readonly parentHash: BlockHash | null;
  readonly partition: string;
  readonly tokenIds: number[];
}

type RemovedRun = { readonly kind: 'removed'; readonly blockHashes: BlockHash[] };

/** What changed since the last `take`, in order. Bounded by what a step computes and by what the cache holds. */
export class CacheEventLog {
  #events: (StoredRun | RemovedRun)[] = [];

  /** Blocks that follow each other are one event. */
  stored({ hash, parent, partition, tokenIds, start, length }: StoredBlock): void {
    let run = this.#events.at(-1);
    if (run?.kind !== 'stored' || run.blockHashes.at(-1) !== parent) {
      run = { kind: 'stored', blockHashes: [], parentHash: parent, partition, tokenIds: [] };
      this.#events.push(run);
    }
    run.blockHashes.push(hash);
    for (let i = start; i < start + length; i++) run.tokenIds.push(tokenIds[i]!);
  }

  removed(hash: BlockHash): void {
    const last = this.#events.at(-1);
    if (last?.kind === 'removed') last.blockHashes.push(hash);
    else this.#events.push({ kind: 'removed', blockHashes: [hash] });
  }

  /** Mutates: the log is empty afterwards. */
  take(): readonly CacheEvent[] {
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }
}
