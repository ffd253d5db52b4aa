// Changes of the prefix cache, as the engine reports them: which blocks of tokens became available to later requests, and
// which ones are gone. They cross the link with the message of the step.

/** Whole blocks, of `CoreFacts.cacheBlockLength` tokens each, that follow each other. */
export interface BlocksStored {
  readonly kind: 'stored';
  /** A hash stands for the tokens of its block, all tokens before it, and the partition. Whole numbers below 2 ** 53. */
  readonly blockHashes: readonly number[];
  /** The block before the first one; null where that begins the prefix. */
  readonly parentHash: number | null;
  /** `GenerationRequest.cachePartition` of the requests that may share them. */
  readonly partition: string;
  /** Shape: `[blockHashes.length * cacheBlockLength]`. */
  readonly tokenIds: readonly number[];
}

export interface BlocksRemoved {
  readonly kind: 'removed';
  readonly blockHashes: readonly number[];
}

export type CacheEvent = BlocksStored | BlocksRemoved;
