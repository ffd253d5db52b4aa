// Sums of weights by bucket in WebAssembly. Same results as `plain-kernels.ts`, four tokens at a time. Caller:
// `wasm-row-module.ts`.

import { BUCKET_COUNT } from './row-kernels.ts';
import { ROUNDER } from './token-weight.ts';
import { BLOCK_BYTES, eachBlock, eachVector, ifBlockReaches } from './wasm-block-loops.ts';
import { type Code, f32x4, f64, i32, i32x4, splat, v128 } from './wasm-instructions.ts';
import { type WasmFunction, wasmFunction } from './wasm-module.ts';

/** Addresses as in `RowFunctions`. */
export interface SpreadFunctions {
  /**
   * Adds the weight of each token to its bucket. A bucket has `BUCKET_LANES` sums, which the caller adds up: tokens that
   * are side by side never wait for each other.
   */
  spreadAll(
    row: number,
    rowEnd: number,
    blockMaxima: number,
    bucketWeightSums: number,
    weights: number,
    largest: number,
    stride: number,
    lowestLogit: number,
  ): number;
  /** `spreadAll` of the first vector of each block. */
  spreadSample: SpreadFunctions['spreadAll'];
}

export const BUCKET_LANES = 4;

/** Binary logarithm of the bytes of the sums of a bucket. */
const BUCKET_SHIFT = 5;
const LANES = [0, 1, 2, 3] as const;
/** Bits of a float32 as an integer. */
const ROUNDER_BITS = new Int32Array(Float32Array.of(ROUNDER).buffer)[0]!;

function spreading(name: keyof SpreadFunctions): WasmFunction {
  return wasmFunction({
    name,
    parameters: {
      at: 'i32',
      rowEnd: 'i32',
      blockMaximum: 'i32',
      bucketWeightSum: 'i32',
      weight: 'i32',
      largest: 'f32',
      stride: 'f32',
      lowestLogit: 'f32',
    },
    result: 'i32',
    variables: {
      address: 'i32',
      logits: 'v128',
      buckets: 'v128',
      counted: 'v128',
      limits: 'v128',
      largests: 'v128',
      strides: 'v128',
      lastBuckets: 'v128',
      rounders: 'v128',
      rounderBits: 'v128',
    },
    body(locals) {
      const { rowEnd, blockMaximum, bucketWeightSum, weight, largest, stride, lowestLogit } = locals;
      const { at, address, logits, buckets, counted } = locals;
      const { limits, largests, strides, lastBuckets, rounders, rounderBits } = locals;
      // `bucketOf`, as integers: after the bits of the rounder a sum with it has those of the rounded number.
      const below = f32x4.sub(largests.get, logits.get);
      const place = f32x4.min(lastBuckets.get, f32x4.mul(below, strides.get));
      const bucketsOfLogits = i32x4.sub(f32x4.add(place, rounders.get), rounderBits.get);
      const addVector = (offset: number): readonly Code[] => {
        const addLane = (lane: number): readonly Code[] => {
          const sum = f64.load(address.get, lane * Float64Array.BYTES_PER_ELEMENT);
          const added = f64.fromF32(f32x4.lane(counted.get, lane));
          return [
            address.set(i32.add(bucketWeightSum.get, i32x4.lane(buckets.get, lane))),
            f64.store(address.get, f64.add(sum, added), lane * Float64Array.BYTES_PER_ELEMENT),
          ];
        };
        const isCounted = f32x4.isAtLeast(logits.get, limits.get);
        return [
          logits.set(v128.loadRow(at.get, offset)),
          counted.set(v128.and(isCounted, v128.load(weight.get, offset))),
          buckets.set(i32x4.shiftLeft(bucketsOfLogits, i32.constant(BUCKET_SHIFT))),
          ...LANES.flatMap(addLane),
        ];
      };
      return [
        limits.set(f32x4.splat(lowestLogit.get)),
        largests.set(f32x4.splat(largest.get)),
        strides.set(f32x4.splat(stride.get)),
        lastBuckets.set(splat(BUCKET_COUNT - 1)),
        rounders.set(splat(ROUNDER)),
        rounderBits.set(i32x4.splat(i32.constant(ROUNDER_BITS))),
        eachBlock({ at, rowEnd, blockMaximum, others: [[weight, BLOCK_BYTES]] }, [
          ifBlockReaches(
            lowestLogit,
            blockMaximum,
            name === 'spreadAll' ? eachVector(addVector) : addVector(0),
          ),
        ]),
        at.get,
      ];
    },
  });
}

export const SPREAD_FUNCTIONS: readonly WasmFunction[] = [spreading('spreadAll'), spreading('spreadSample')];
