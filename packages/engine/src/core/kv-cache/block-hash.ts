// Chained block hashes: the tokens of a block hashed together with the hash of all tokens before it. Equal prefixes have
// equal hashes; hashes may collide, so a lookup compares the tokens as well.

/** A hash: a whole number below 2 ** 53, a Map key that needs no string. */
export type BlockHash = number;

/** The hash functions; tests inject ones that collide. */
export interface BlockHashing {
  readonly hashPartition: (partition: string) => BlockHash;
  readonly hashBlock: (parent: BlockHash, tokenIds: Int32Array, start: number, length: number) => BlockHash;
}

const HIGH_UNIT = 2 ** 21;

/** The parent of the first block: a hash of the partition, so that partitions share no chain. */
export function hashPartition(partition: string): BlockHash {
  let [high, low] = [0x243f6a88, 0x85a308d3];
  for (let i = 0; i < partition.length; i++) {
    high = mix(high, partition.charCodeAt(i));
    low = mix(low, high);
  }
  return join(high, low);
}

/** Hash of the `length` tokens from `start` on, after the prefix with the hash `parent`. */
export function hashBlock(parent: BlockHash, tokenIds: Int32Array, start: number, length: number): BlockHash {
  let high = Math.floor(parent / HIGH_UNIT) | 0;
  let low = parent % HIGH_UNIT;
  for (let i = start; i < start + length; i++) {
    high = mix(high, tokenIds[i]!);
    low = mix(low, high);
  }
  return join(high, low);
}

export const BLOCK_HASHING: BlockHashing = { hashPartition, hashBlock };

/** One round of 32-bit mixing. Source: the multipliers of MurmurHash3's finaliser. */
function mix(state: number, value: number): number {
  let mixed = Math.imul(state ^ value, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) + 0x9e3779b9;
}

function join(high: number, low: number): BlockHash {
  return (high >>> 0) * HIGH_UNIT + (low >>> 11);
}
