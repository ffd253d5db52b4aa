// The loops over a row whose weights are kept: sums above a limit, sums by bucket, the tokens of one bucket. Instruction by
// instruction what `plain-kernels.ts` does, four tokens at a time. Caller: `wasm-row-module.ts`.

import { BUCKET_COUNT } from './row-kernels.ts';
import { ROUNDER } from './token-weight.ts';
import { BLOCK_BYTES, eachBlock, eachVector, ifBlockReaches, laneSums } from './wasm-block-loops.ts';
import { type Code, f32x4, f64, i32, i32x4, ifTrue, type Local, splat, v128 } from './wasm-instructions.ts';
import { type WasmFunction, wasmFunction } from './wasm-module.ts';

/** Addresses are bytes of the module's memory; the row begins at 0. */
export interface BucketFunctions {
  /** Writes the sum of weights of each block and gives that of the row, of tokens with at least `lowestLogit`. */
  weighKept(
    rowEnd: number,
    blockMaxima: number,
    blockMasses: number,
    weights: number,
    lowestLogit: number,
  ): number;
  /**
   * Adds the weight of each token to its bucket. A bucket has `BUCKET_LANES` sums, which the caller adds up: tokens that
   * stand side by side never wait for each other.
   */
  spread(
    rowEnd: number,
    blockMaxima: number,
    bucketMasses: number,
    weights: number,
    largest: number,
    stride: number,
    lowestLogit: number,
  ): number;
  /** Writes the ids of the tokens of a bucket, ascending, and gives the address behind the last one. */
  gatherBucket(
    rowEnd: number,
    blockMaxima: number,
    ids: number,
    bucket: number,
    largest: number,
    stride: number,
    lowestLogit: number,
  ): number;
}

export const BUCKET_LANES = 4;

/** Bytes of the sums of a bucket, as a power of two. */
const BUCKET_SHIFT = 5;
/** From the address of a logit to the id of its token, as a power of two. */
const ID_SHIFT = 2;
const LANES = [0, 1, 2, 3] as const;
/** Bits of a float32 as an integer. */
const ROUNDER_BITS = new Int32Array(Float32Array.of(ROUNDER).buffer)[0]!;

const WEIGH_KEPT = wasmFunction({
  name: 'weighKept',
  parameters: { rowEnd: 'i32', blockMaximum: 'i32', blockMass: 'i32', weight: 'i32', lowestLogit: 'f32' },
  result: 'f64',
  variables: {
    at: 'i32',
    mass: 'f64',
    total: 'f64',
    limits: 'v128',
    kept: 'v128',
    low: 'v128',
    high: 'v128',
  },
  body({ rowEnd, blockMaximum, blockMass, weight, lowestLogit, at, mass, total, limits, kept, low, high }) {
    const addVector = (offset: number): readonly Code[] => [
      kept.set(f32x4.isAtLeast(v128.load(at.get, offset), limits.get)),
      kept.set(v128.and(kept.get, v128.load(weight.get, offset))),
      ...laneSums.add(low, high, kept.get),
    ];
    const others = [
      [blockMass, Float64Array.BYTES_PER_ELEMENT],
      [weight, BLOCK_BYTES],
    ] as const;
    return [
      limits.set(f32x4.splat(lowestLogit.get)),
      eachBlock({ at, rowEnd, blockMaximum, others }, [
        mass.set(f64.constant(0)),
        ifBlockReaches(lowestLogit, blockMaximum, [
          ...laneSums.clear(low, high),
          ...eachVector(addVector),
          ...laneSums.total(low, high, mass),
        ]),
        f64.store(blockMass.get, mass.get),
        total.set(f64.add(total.get, mass.get)),
      ]),
      total.get,
    ];
  },
});

const SPREAD = wasmFunction({
  name: 'spread',
  parameters: {
    rowEnd: 'i32',
    blockMaximum: 'i32',
    bucketMass: 'i32',
    weight: 'i32',
    largest: 'f32',
    stride: 'f32',
    lowestLogit: 'f32',
  },
  result: 'i32',
  variables: { at: 'i32', address: 'i32', logits: 'v128', buckets: 'v128', counted: 'v128' },
  body(locals) {
    const { rowEnd, blockMaximum, bucketMass, weight, largest, stride, lowestLogit } = locals;
    const { at, address, logits, buckets, counted } = locals;
    const addVector = (offset: number): readonly Code[] => {
      const addLane = (lane: number): readonly Code[] => {
        const sum = f64.load(address.get, lane * Float64Array.BYTES_PER_ELEMENT);
        const added = f64.fromF32(f32x4.lane(counted.get, lane));
        return [
          address.set(i32.add(bucketMass.get, i32x4.lane(buckets.get, lane))),
          f64.store(address.get, f64.add(sum, added), lane * Float64Array.BYTES_PER_ELEMENT),
        ];
      };
      const isCounted = f32x4.isAtLeast(logits.get, f32x4.splat(lowestLogit.get));
      return [
        logits.set(v128.load(at.get, offset)),
        counted.set(v128.and(isCounted, v128.load(weight.get, offset))),
        buckets.set(bucketsOf(logits, largest, stride)),
        buckets.set(i32x4.shiftLeft(buckets.get, i32.constant(BUCKET_SHIFT))),
        ...LANES.flatMap(addLane),
      ];
    };
    return [
      eachBlock({ at, rowEnd, blockMaximum, others: [[weight, BLOCK_BYTES]] }, [
        ifBlockReaches(lowestLogit, blockMaximum, eachVector(addVector)),
      ]),
      at.get,
    ];
  },
});

const GATHER_BUCKET = wasmFunction({
  name: 'gatherBucket',
  parameters: {
    rowEnd: 'i32',
    blockMaximum: 'i32',
    id: 'i32',
    bucket: 'i32',
    largest: 'f32',
    stride: 'f32',
    lowestLogit: 'f32',
  },
  result: 'i32',
  variables: { at: 'i32', found: 'i32', logits: 'v128', matches: 'v128', wanted: 'v128' },
  body(locals) {
    const { rowEnd, blockMaximum, id, bucket, largest, stride, lowestLogit } = locals;
    const { at, found, logits, matches, wanted } = locals;
    const takeVector = (offset: number): readonly Code[] => {
      // The id is written at the end of the list, which grows where the token belongs to it.
      const takeLane = (lane: number): readonly Code[] => {
        const logitId = i32.shiftRight(
          i32.add(at.get, i32.constant(offset + 4 * lane)),
          i32.constant(ID_SHIFT),
        );
        const bit = i32.and(i32.shiftRight(found.get, i32.constant(lane)), i32.constant(1));
        return [i32.store(id.get, 0, logitId), id.set(i32.add(id.get, i32.shiftLeft(bit, i32.constant(2))))];
      };
      const reachesLimit = f32x4.isAtLeast(logits.get, f32x4.splat(lowestLogit.get));
      return [
        logits.set(v128.load(at.get, offset)),
        matches.set(i32x4.isEqual(bucketsOf(logits, largest, stride), wanted.get)),
        found.set(i32x4.signs(v128.and(matches.get, reachesLimit))),
        ifTrue(found.get, LANES.flatMap(takeLane)),
      ];
    };
    return [
      wanted.set(i32x4.splat(bucket.get)),
      eachBlock({ at, rowEnd, blockMaximum }, [
        ifBlockReaches(lowestLogit, blockMaximum, eachVector(takeVector)),
      ]),
      id.get,
    ];
  },
});

export const BUCKET_FUNCTIONS: readonly WasmFunction[] = [WEIGH_KEPT, SPREAD, GATHER_BUCKET];

/** `bucketOf` of four logits, as integers. */
function bucketsOf(logits: Local, largest: Local, stride: Local): Code {
  const below = f32x4.sub(f32x4.splat(largest.get), logits.get);
  const place = f32x4.min(splat(BUCKET_COUNT - 1), f32x4.mul(below, f32x4.splat(stride.get)));
  // Behind the bits of the rounder the sum has those of the rounded number.
  return i32x4.sub(f32x4.add(place, splat(ROUNDER)), i32x4.splat(i32.constant(ROUNDER_BITS)));
}
