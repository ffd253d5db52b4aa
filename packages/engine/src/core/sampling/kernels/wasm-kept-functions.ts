// The loops over a row whose weights are kept, in WebAssembly: sums above a limit and the tokens between two of them.
// Same results as `plain-kernels.ts`, four tokens at a time. Caller: `wasm-row-module.ts`.

import { BLOCK_LENGTH } from './row-kernels.ts';
import { BLOCK_BYTES, eachBlock, eachVector, ifBlockReaches, laneSums } from './wasm-block-loops.ts';
import {
  advance,
  type Code,
  f32,
  f32x4,
  f64,
  f64x2,
  i32,
  i32x4,
  ifTrue,
  repeatWhile,
  v128,
} from './wasm-instructions.ts';
import { type WasmFunction, wasmFunction } from './wasm-module.ts';

/** Addresses as in `RowFunctions`. */
export interface KeptFunctions {
  /**
   * Writes the sum of weights of each block and gives that of the row, of tokens with at least `lowestLogit`. `scratch`
   * holds the weights of a block.
   */
  weighKept(
    row: number,
    rowEnd: number,
    blockMaxima: number,
    blockWeightSums: number,
    weights: number,
    scratch: number,
    lowestLogit: number,
  ): number;
  /** The sum of the blocks with a token that has at least `lowestLogit`, of all their tokens. */
  weightReaching(
    blockMaxima: number,
    blockMaximaEnd: number,
    blockWeightSums: number,
    lowestLogit: number,
  ): number;
  /** Writes the ids of the tokens between two logits, ascending, and gives the address after the last one. */
  gatherBetween(
    row: number,
    rowEnd: number,
    blockMaxima: number,
    ids: number,
    lowestLogit: number,
    belowLogit: number,
  ): number;
}

const LANES = [0, 1, 2, 3] as const;

const WEIGH_KEPT = wasmFunction({
  name: 'weighKept',
  parameters: {
    at: 'i32',
    rowEnd: 'i32',
    blockMaximum: 'i32',
    blockWeightSum: 'i32',
    weight: 'i32',
    scratch: 'i32',
    lowestLogit: 'f32',
  },
  result: 'f64',
  variables: {
    weightSum: 'f64',
    total: 'f64',
    limits: 'v128',
    low: 'v128',
    high: 'v128',
  },
  body(locals) {
    const { rowEnd, blockMaximum, blockWeightSum, weight, scratch, lowestLogit } = locals;
    const { at, weightSum, total, limits, low, high } = locals;
    const isKept = (offset: number): Code => f32x4.isAtLeast(v128.loadRow(at.get, offset), limits.get);
    const storeKept = (offset: number): readonly Code[] => [
      v128.store(scratch.get, offset, v128.and(isKept(offset), v128.load(weight.get, offset))),
    ];
    const addKept = (offset: number): readonly Code[] => laneSums.addStored(low, high, scratch.get, offset);
    const others = [
      [blockWeightSum, Float64Array.BYTES_PER_ELEMENT],
      [weight, BLOCK_BYTES],
    ] as const;
    return [
      limits.set(f32x4.splat(lowestLogit.get)),
      eachBlock({ at, rowEnd, blockMaximum, others }, [
        weightSum.set(f64.constant(0)),
        ifBlockReaches(lowestLogit, blockMaximum, [
          ...laneSums.clear(low, high),
          ...eachVector(storeKept),
          ...eachVector(addKept),
          ...laneSums.total(low, high, weightSum),
        ]),
        f64.store(blockWeightSum.get, weightSum.get),
        total.set(f64.add(total.get, weightSum.get)),
      ]),
      total.get,
    ];
  },
});

const WEIGHT_REACHING = wasmFunction({
  name: 'weightReaching',
  parameters: { blockMaximum: 'i32', blockMaximaEnd: 'i32', blockWeightSum: 'i32', lowestLogit: 'f32' },
  result: 'f64',
  variables: { total: 'v128', limits: 'v128', reaches: 'v128' },
  body({ blockMaximum, blockMaximaEnd, blockWeightSum, lowestLogit, total, limits, reaches }) {
    return [
      limits.set(f32x4.splat(lowestLogit.get)),
      // Without a branch, which would be mispredicted most of the time.
      repeatWhile(i32.isLess(blockMaximum.get, blockMaximaEnd.get), [
        reaches.set(f32x4.isAtLeast(f32x4.splat(f32.load(blockMaximum.get)), limits.get)),
        total.set(f64x2.add(total.get, v128.and(reaches.get, v128.loadHalf(blockWeightSum.get, 0)))),
        advance(blockMaximum, Float32Array.BYTES_PER_ELEMENT),
        advance(blockWeightSum, Float64Array.BYTES_PER_ELEMENT),
      ]),
      f64x2.first(total.get),
    ];
  },
});

const GATHER_BETWEEN = wasmFunction({
  name: 'gatherBetween',
  parameters: {
    at: 'i32',
    rowEnd: 'i32',
    blockMaximum: 'i32',
    id: 'i32',
    lowestLogit: 'f32',
    belowLogit: 'f32',
  },
  result: 'i32',
  variables: { firstId: 'i32', found: 'i32', logits: 'v128', lowest: 'v128', below: 'v128' },
  body(locals) {
    const { at, rowEnd, blockMaximum, id, lowestLogit, belowLogit } = locals;
    const { firstId, found, logits, lowest, below } = locals;
    const takeVector = (offset: number): readonly Code[] => {
      // The id is written at the end of the list, which grows where the token belongs to it.
      const takeLane = (lane: number): readonly Code[] => {
        const logitId = i32.add(firstId.get, i32.constant(offset / 4 + lane));
        const bit = i32.and(i32.shiftRight(found.get, i32.constant(lane)), i32.constant(1));
        return [i32.store(id.get, 0, logitId), id.set(i32.add(id.get, i32.shiftLeft(bit, i32.constant(2))))];
      };
      const isBetween = v128.and(
        f32x4.isAtLeast(logits.get, lowest.get),
        f32x4.isLess(logits.get, below.get),
      );
      return [
        logits.set(v128.loadRow(at.get, offset)),
        found.set(i32x4.signs(isBetween)),
        ifTrue(found.get, LANES.flatMap(takeLane)),
      ];
    };
    return [
      lowest.set(f32x4.splat(lowestLogit.get)),
      below.set(f32x4.splat(belowLogit.get)),
      eachBlock({ at, rowEnd, blockMaximum, others: [[firstId, BLOCK_LENGTH]] }, [
        ifBlockReaches(lowestLogit, blockMaximum, eachVector(takeVector)),
      ]),
      id.get,
    ];
  },
});

export const KEPT_FUNCTIONS: readonly WasmFunction[] = [WEIGH_KEPT, WEIGHT_REACHING, GATHER_BETWEEN];
