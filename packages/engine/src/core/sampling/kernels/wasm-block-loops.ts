// Shared code of the WebAssembly loops over a row: blocks of a row, vectors of a block, and sums in float64. Callers: the
// modules that write functions of rows.

import { BLOCK_LENGTH } from './row-kernels.ts';
import {
  advance,
  type Code,
  f32,
  f64,
  f64x2,
  i32,
  ifTrue,
  type Local,
  reorder,
  repeatWhile,
  v128,
} from './wasm-instructions.ts';

export const VECTOR_BYTES = 16;
export const BLOCK_BYTES = 4 * BLOCK_LENGTH;
export const HIGH_TO_LOW = [2, 3, 2, 3] as const;

/** Where a loop over a row is. Units: addresses in bytes. */
export interface BlockCursors {
  readonly at: Local;
  readonly rowEnd: Local;
  /** The largest logit of the block. */
  readonly blockMaximum: Local;
  /** Others that advance with each block, and by how much. */
  readonly others?: readonly (readonly [cursor: Local, distance: number])[];
}

/** Runs `body` for each block of a row, of which there is at least one. */
export function eachBlock(
  { at, rowEnd, blockMaximum, others = [] }: BlockCursors,
  body: readonly Code[],
): Code {
  return repeatWhile(i32.isLess(at.get, rowEnd.get), [
    ...body,
    advance(blockMaximum, Float32Array.BYTES_PER_ELEMENT),
    ...others.map(([cursor, distance]) => advance(cursor, distance)),
    advance(at, BLOCK_BYTES),
  ]);
}

/** Runs `body` where the block has a token with at least `lowestLogit`. */
export function ifBlockReaches(lowestLogit: Local, blockMaximum: Local, body: readonly Code[]): Code {
  return ifTrue(reachesLimit(lowestLogit, blockMaximum), body);
}

export function reachesLimit(lowestLogit: Local, blockMaximum: Local): Code {
  return f32.isAtLeast(f32.load(blockMaximum.get), lowestLogit.get);
}

/** Code for each vector of a block, by its distance from the start of the block. Unit: bytes. */
export function eachVector(code: (offset: number) => readonly Code[]): readonly Code[] {
  const vectorCount = BLOCK_BYTES / VECTOR_BYTES;
  return Array.from({ length: vectorCount }, (_, index) => code(index * VECTOR_BYTES)).flat();
}

/** Sums of the four lanes of float32 vectors, each in float64: two in `low`, two in `high`. */
export const laneSums = {
  clear: (low: Local, high: Local): readonly Code[] => {
    const zero = f64x2.splat(f64.constant(0));
    return [low.set(zero), high.set(zero)];
  },
  add: (low: Local, high: Local, vector: Code): readonly Code[] => [
    low.set(f64x2.add(low.get, f64x2.fromLowF32(vector))),
    high.set(f64x2.add(high.get, f64x2.fromLowF32(reorder(vector, HIGH_TO_LOW)))),
  ],
  /** As `add`, of a vector that was stored just now: what is loaded anew needs no reordering. */
  addStored: (low: Local, high: Local, address: Code, offset: number): readonly Code[] => [
    low.set(f64x2.add(low.get, f64x2.fromLowF32(v128.loadHalf(address, offset)))),
    high.set(f64x2.add(high.get, f64x2.fromLowF32(v128.loadHalf(address, offset + VECTOR_BYTES / 2)))),
  ],
  /** Sets `total` to the sum of all four. */
  total: (low: Local, high: Local, total: Local): readonly Code[] => [
    low.set(f64x2.add(low.get, high.get)),
    total.set(f64.add(f64x2.first(low.get), f64x2.second(low.get))),
  ],
};
