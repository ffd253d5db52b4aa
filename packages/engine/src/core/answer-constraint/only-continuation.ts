// Jump-forward decoding: whether a mask leaves one way for the text to go on, and the token that goes furthest on it.

import type { TokenVocabulary } from '@ortler/structured-output';

/**
 * The longest allowed token, when every other allowed one is a prefix of it: most models write a text without alternatives in
 * the longest tokens. A proposal only, because the tokenizer may cut the text otherwise. Undefined where tokens disagree,
 * and where the text may end. Shape: `mask` is `[ceil(columnCount / 32)]`.
 */
export function onlyContinuation(
  { bytes, offsets, specialTokens, eosTokenIds }: TokenVocabulary,
  mask: Uint32Array,
): number | undefined {
  let longest = -1;
  for (let word = 0; word < mask.length; word++) {
    for (let bits = mask[word]!; bits !== 0; bits &= bits - 1) {
      const id = word * 32 + 31 - Math.clz32(bits & -bits);
      if (longest === -1) {
        longest = id;
        continue;
      }
      const shared = Math.min(lengthOf(longest), lengthOf(id));
      const [a, b] = [offsets[longest]!, offsets[id]!];
      for (let i = 0; i < shared; i++) if (bytes[a + i] !== bytes[b + i]) return undefined;
      // A token without text is the only continuation only where it is the only token.
      if (isSpecial(longest) || isSpecial(id)) return undefined;
      if (lengthOf(id) > lengthOf(longest)) longest = id;
    }
  }
  return longest === -1 || eosTokenIds.includes(longest) ? undefined : longest;

  function lengthOf(id: number): number {
    return offsets[id + 1]! - offsets[id]!;
  }

  function isSpecial(id: number): boolean {
    return specialTokens.some(token => token.id === id) || eosTokenIds.includes(id);
  }
}
