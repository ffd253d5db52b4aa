// The tokens that a constraint allows, packed as bits, and what a row of logits looks like under them.

export interface TokenMask {
  /** Bit `i % 32` of word `i / 32` is token `i`. At least one is set. Shape: `[ceil(vocabSize / 32)]`. */
  readonly words: Uint32Array;
  /** An end token when the text so far is complete, else null. */
  readonly endTokenId: number | null;
  /** The token with which the model may begin to think instead, if that is what it thinks of first; mostly null. */
  readonly thinkTokenId: number | null;
}

/** Rules out every other token. Mutates: `logits`. */
export function maskLogits(logits: Float32Array, { words }: TokenMask): void {
  for (let start = 0, word = 0; start < logits.length; start += 32, word++) {
    const bits = words[word]!;
    if (bits === 0xffffffff) continue;
    const end = Math.min(start + 32, logits.length);
    if (bits === 0) {
      logits.fill(-Infinity, start, end);
      continue;
    }
    for (let id = start; id < end; id++) if (((bits >>> (id - start)) & 1) === 0) logits[id] = -Infinity;
  }
}

/** The token that is allowed alone; null when there are several. */
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
