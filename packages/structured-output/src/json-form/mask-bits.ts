// Bits of a token mask, one for each token.

/** Mutates: takes the tokens out of `mask` that `isKept` refuses. */
export function keepTokens(mask: Uint32Array, isKept: (tokenId: number) => boolean): void {
  for (let word = 0; word < mask.length; word++)
    for (let bits = mask[word]!; bits !== 0; bits &= bits - 1) {
      const id = word * 32 + 31 - Math.clz32(bits & -bits);
      if (!isKept(id)) clearBit(mask, id);
    }
}

export function hasBit(mask: Uint32Array, id: number): boolean {
  return ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
}

/** Mutates: `mask`. */
export function clearBit(mask: Uint32Array, id: number): void {
  mask[id >>> 5]! &= ~(1 << (id & 31));
}

export function isEmpty(mask: Uint32Array): boolean {
  for (let word = 0; word < mask.length; word++) if (mask[word] !== 0) return false;
  return true;
}
