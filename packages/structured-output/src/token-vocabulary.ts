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

export interface TokenVocabularyOptions {
  /** Every id that ends an answer; at least one. */
  readonly eosTokenIds: readonly number[];
  /** Ids of further tokens that no text matches, such as those of a chat template. End tokens are special without it. */
  readonly specialTokenIds?: readonly number[];
  /** Length of a row of logits, where the model pads its vocabulary. Default: the number of tokens. */
  readonly columnCount?: number;
}

/** A vocabulary from the tokens in the order of their ids: text, or bytes where a token is not valid UTF-8 by itself. */
export function createTokenVocabulary(
  tokens: readonly (string | Uint8Array)[],
  { eosTokenIds, specialTokenIds = [], columnCount = tokens.length }: TokenVocabularyOptions,
): TokenVocabulary {
  const parts = tokens.map(token => (typeof token === 'string' ? Buffer.from(token) : token));
  const offsets = new Uint32Array(parts.length + 1);
  for (const [id, part] of parts.entries()) offsets[id + 1] = offsets[id]! + part.length;
  const specialTokens = [...new Set([...eosTokenIds, ...specialTokenIds])]
    .sort((a, b) => a - b)
    .map(id => ({ id, name: Buffer.from(parts[id]!).toString('utf8') }));
  return { columnCount, bytes: new Uint8Array(Buffer.concat(parts)), offsets, specialTokens, eosTokenIds };
}
