// The tokenizer's vocabulary as plain data for the constraints of the token side.

import type { SpecialToken, TokenVocabulary } from '@ortler/structured-output';
import type { Tokenizer } from './tokenizer.ts';

/** `columnCount` is the length of the model's rows of logits; ids of the tokenizer past it cannot be generated. */
export function toTokenVocabulary(
  { tokenBytes, eosTokenIds }: Pick<Tokenizer, 'tokenBytes' | 'eosTokenIds'>,
  columnCount: number,
): TokenVocabulary {
  const specialTokens: SpecialToken[] = [];
  for (let id = 0; id < Math.min(tokenBytes.size, columnCount); id++) {
    if (tokenBytes.isSpecial(id))
      specialTokens.push({ id, name: new TextDecoder().decode(tokenBytes.bytesOf(id)) });
  }
  return {
    columnCount,
    ...tokenBytes.toTable(),
    specialTokens,
    eosTokenIds: eosTokenIds.filter(id => id < columnCount),
  };
}
