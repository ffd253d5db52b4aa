// The tokenizer's vocabulary as plain data for the constraints of the token side.

import type { SpecialToken, TokenVocabulary } from '@ortler/structured-output';
import type { Tokenizer } from './tokenizer.ts';

/** `columnCount` is the length of the model's rows of logits; ids of the tokenizer past it cannot be generated. */
export function toTokenVocabulary(
  { tokenBytes, eosTokenIds }: Pick<Tokenizer, 'tokenBytes' | 'eosTokenIds'>,
  columnCount: number,
): TokenVocabulary {
  const offsets = new Uint32Array(tokenBytes.size + 1);
  const parts: Uint8Array[] = [];
  const specialTokens: SpecialToken[] = [];
  for (let id = 0; id < tokenBytes.size; id++) {
    const bytes = tokenBytes.bytesOf(id);
    parts.push(bytes);
    offsets[id + 1] = offsets[id]! + bytes.length;
    if (tokenBytes.isSpecial(id) && id < columnCount)
      specialTokens.push({ id, name: new TextDecoder().decode(bytes) });
  }
  return {
    columnCount,
    bytes: new Uint8Array(Buffer.concat(parts)),
    offsets,
    specialTokens,
    eosTokenIds: eosTokenIds.filter(id => id < columnCount),
  };
}
