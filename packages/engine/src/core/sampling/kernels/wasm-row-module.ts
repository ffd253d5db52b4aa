// The loops over a row as a WebAssembly module, written at run time. Each instruction of the weight is one of
// `token-weight.ts`, four tokens at a time. Caller: `wasm-kernels.ts`.

import { EXP2_COEFFICIENTS, LOWEST_POWER } from './token-weight.ts';
import {
  BLOCK_BYTES,
  eachBlock,
  eachVector,
  HIGH_TO_LOW,
  laneSums,
  reachesLimit,
  VECTOR_BYTES,
} from './wasm-block-loops.ts';
import { BUCKET_FUNCTIONS, type BucketFunctions } from './wasm-bucket-functions.ts';
import {
  advance,
  type Code,
  f32,
  f32x4,
  f64,
  i32,
  i32x4,
  ifElse,
  ifTrue,
  reorder,
  repeatWhile,
  select,
  splat,
  v128,
} from './wasm-instructions.ts';
import { encodeModule, type WasmFunction, wasmFunction } from './wasm-module.ts';

/** What the module exports. Addresses are bytes of its memory; the row begins at 0. */
export interface RowFunctions extends BucketFunctions {
  /** Writes the largest logit of each block; gives that of the row, or NaN when the row has one. */
  scan(rowEnd: number, blockMaxima: number): number;
  /**
   * Writes the sum of weights of each block and gives that of the row, of tokens with at least `lowestLogit`. `rounder`
   * is `ROUNDER + bits`; blocks whose best power of two is below `lowestPower` have no weight.
   */
  weigh(
    rowEnd: number,
    blockMaxima: number,
    blockMasses: number,
    largest: number,
    factor: number,
    rounder: number,
    lowestPower: number,
    lowestLogit: number,
    weights: number,
  ): number;
  /** As `weigh`, and writes the weights of blocks that reach the limit to `weights`. */
  keepWeights: RowFunctions['weigh'];
}

/** Vectors of one turn of the inner loop of `weigh`. */
const UNROLL = 4;
/** Bits of a float32 behind its exponent. */
const MANTISSA_BITS = 23;
const SECOND_TO_FIRST = [1, 1, 1, 1] as const;

const SCAN = wasmFunction({
  name: 'scan',
  parameters: { rowEnd: 'i32', blockMaximum: 'i32' },
  result: 'f32',
  variables: { at: 'i32', even: 'v128', odd: 'v128', vector: 'v128', best: 'v128', nan: 'v128' },
  body({ rowEnd, blockMaximum, at, even, odd, vector, best, nan }) {
    // Two running maxima: each step of one waits for the step before it.
    const takeVector = (offset: number): readonly Code[] => {
      const index = offset / VECTOR_BYTES;
      const running = index % 2 === 0 ? even : odd;
      const loaded = vector.set(v128.load(at.get, offset));
      const noticeNan = nan.set(v128.or(nan.get, f32x4.isNotEqual(vector.get, vector.get)));
      const next = index < 2 ? vector.get : f32x4.max(running.get, vector.get);
      return [loaded, noticeNan, running.set(next)];
    };
    return [
      best.set(f32x4.splat(f32.constant(-Infinity))),
      eachBlock({ at, rowEnd, blockMaximum }, [
        ...eachVector(takeVector),
        even.set(f32x4.max(even.get, odd.get)),
        even.set(f32x4.max(even.get, reorder(even.get, HIGH_TO_LOW))),
        even.set(f32x4.max(even.get, reorder(even.get, SECOND_TO_FIRST))),
        best.set(f32x4.max(best.get, even.get)),
        f32.store(blockMaximum.get, f32x4.first(even.get)),
      ]),
      select(f32.constant(Number.NaN), f32x4.first(best.get), v128.anyTrue(nan.get)),
    ];
  },
});

/** `weigh`, or with one more parameter `keepWeights`, which also stores what it adds. */
function weighing(name: 'weigh' | 'keepWeights'): WasmFunction {
  const keeps = name === 'keepWeights';
  return wasmFunction({
    name,
    parameters: {
      rowEnd: 'i32',
      blockMaximum: 'i32',
      blockMass: 'i32',
      largest: 'f32',
      factor: 'f32',
      rounder: 'f32',
      lowestPower: 'f32',
      lowestLogit: 'f32',
      weights: 'i32',
    },
    result: 'f64',
    variables: {
      at: 'i32',
      blockEnd: 'i32',
      mass: 'f64',
      total: 'f64',
      largests: 'v128',
      factors: 'v128',
      rounders: 'v128',
      limits: 'v128',
      vector: 'v128',
      power: 'v128',
      shifted: 'v128',
      rest: 'v128',
      low: 'v128',
      high: 'v128',
    },
    body(locals) {
      const { rowEnd, blockMaximum, blockMass, largest, factor, rounder, lowestPower, lowestLogit } = locals;
      const { weights, at, blockEnd, mass, total, largests, factors, rounders, limits } = locals;
      const { vector, power, shifted, rest, low, high } = locals;
      const bestPower = f32.mul(f32.sub(f32.load(blockMaximum.get), largest.get), factor.get);
      const keep = (offset: number, value: Code): Code =>
        keeps ? v128.store(i32.add(at.get, weights.get), offset, value) : [];
      const addVector = (offset: number): readonly Code[] => {
        const difference = f32x4.sub(vector.get, largests.get);
        const limited = f32x4.max(f32x4.mul(difference, factors.get), splat(LOWEST_POWER));
        // Where the rounded power is added to the exponent, the bits of the rounder itself are shifted out.
        const scaled = i32x4.add(exp2(rest.get), i32x4.shiftLeft(shifted.get, i32.constant(MANTISSA_BITS)));
        return [
          vector.set(v128.load(at.get, offset)),
          power.set(limited),
          shifted.set(f32x4.add(power.get, rounders.get)),
          rest.set(f32x4.sub(power.get, f32x4.sub(shifted.get, rounders.get))),
          rest.set(v128.and(f32x4.nearest(scaled), f32x4.isAtLeast(vector.get, limits.get))),
          keep(offset, rest.get),
          ...laneSums.add(low, high, rest.get),
        ];
      };
      const reaches = reachesLimit(lowestLogit, blockMaximum);
      const hasWeight = i32.and(f32.isAtLeast(bestPower, lowestPower.get), reaches);
      return [
        largests.set(f32x4.splat(largest.get)),
        factors.set(f32x4.splat(factor.get)),
        rounders.set(f32x4.splat(rounder.get)),
        limits.set(f32x4.splat(lowestLogit.get)),
        // The inner loop moves `at`, so this one has its own end.
        repeatWhile(i32.isLess(at.get, rowEnd.get), [
          blockEnd.set(i32.add(at.get, i32.constant(BLOCK_BYTES))),
          mass.set(f64.constant(0)),
          ifElse(
            hasWeight,
            [
              ...laneSums.clear(low, high),
              repeatWhile(i32.isLess(at.get, blockEnd.get), [
                ...Array.from({ length: UNROLL }, (_, index) => addVector(index * VECTOR_BYTES)).flat(),
                advance(at, UNROLL * VECTOR_BYTES),
              ]),
              ...laneSums.total(low, high, mass),
            ],
            [
              ifTrue(
                reaches,
                eachVector(offset => [keep(offset, splat(0))]),
              ),
            ],
          ),
          f64.store(blockMass.get, mass.get),
          total.set(f64.add(total.get, mass.get)),
          advance(blockMaximum, Float32Array.BYTES_PER_ELEMENT),
          advance(blockMass, Float64Array.BYTES_PER_ELEMENT),
          at.set(blockEnd.get),
        ]),
        total.get,
      ];
    },
  });
}

/** Bytes of the module; see `RowFunctions`. */
export function encodeRowModule(): Uint8Array<ArrayBuffer> {
  return encodeModule([SCAN, weighing('weigh'), weighing('keepWeights'), ...BUCKET_FUNCTIONS]);
}

/** `2 ** f`, from the last coefficient to the first. */
function exp2(f: Code): Code {
  const [last, ...others] = [1, ...EXP2_COEFFICIENTS].reverse();
  return others.reduce<Code>(
    (sum, coefficient) => f32x4.add(f32x4.mul(sum, f), splat(coefficient)),
    splat(last!),
  );
}
