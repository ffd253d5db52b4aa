// Token masks: the tokens that a constraint allows, packed as bits, and their effect on a row of logits.

export interface TokenMask {
  /** Bit `i % 32` of word `i / 32` is token `i`. At least one is set. Shape: `[ceil(vocabSize / 32)]`. */
  readonly words: Uint32Array;
  /** An end token when the text so far is complete, else null. */
  readonly endTokenId: number | null;
  /** The token that opens the reasoning instead, taken if its logit is the largest of the row as the request edits it; mostly null. */
  readonly reasoningTokenId: number | null;
}

/**
 * Bans every other token. Most masks allow a few tokens or nearly all: runs of words without an allowed token are filled
 * at once, and in other words only the banned tokens are visited. Mutates: `logits`.
 */
export function maskLogits(logits: Float32Array, { words }: TokenMask): void {
  const { length } = logits;
  const wordCount = Math.ceil(length / 32);
  for (let word = 0; word < wordCount; word++) {
    let ruledOut = ~words[word]!;
    if (ruledOut === 0) continue;
    const start = word * 32;
    if (ruledOut === -1) {
      while (word + 1 < wordCount && words[word + 1] === 0) word++;
      logits.fill(-Infinity, start, Math.min(word * 32 + 32, length));
      continue;
    }
    for (; ruledOut !== 0; ruledOut &= ruledOut - 1) {
      const id = start + 31 - Math.clz32(ruledOut & -ruledOut);
      // Bits past the end of the row are ignored: a write beyond the array would be slow.
      if (id < length) logits[id] = -Infinity;
    }
  }
}

/** The only allowed token; null when there are several. */
export function onlyAllowed({ words }: TokenMask): number | null {
  let only: number | null = null;
  for (let word = 0; word < words.length; word++) {
    const bits = words[word]!;
    if (bits === 0) continue;
    if (only !== null || (bits & (bits - 1)) !== 0) return null;
    only = word * 32 + 31 - Math.clz32(bits);
  }
  return only;
}
