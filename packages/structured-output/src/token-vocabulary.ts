// A tokenizer's vocabulary as bytes, which token masks are computed for. Plain data.

/** Ids from the tokenizer's size up to `columnCount` are padding of the model and are never allowed. */
export interface TokenVocabulary {
  /** Length of a row of logits. */
  readonly columnCount: number;
  /** Bytes of all tokens, one after the other. */
  readonly bytes: Uint8Array;
  /** Token `id` is `bytes[offsets[id], offsets[id + 1])`. Shape: `[tokenCount + 1]`. */
  readonly offsets: Uint32Array;
  /** Tokens that no text matches; a grammar can only name them. */
  readonly specialTokens: readonly SpecialToken[];
  /** Every id that ends an answer; at least one. */
  readonly eosTokenIds: readonly number[];
}

export interface SpecialToken {
  readonly id: number;
  readonly name: string;
}
