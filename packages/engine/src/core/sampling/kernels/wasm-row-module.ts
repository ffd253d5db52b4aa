// The loops over a row as a WebAssembly module, written at run time. Each instruction of the weight is one of
// `token-weight.ts`, four tokens at a time. Caller: `wasm-kernels.ts`.

import { EXP2_COEFFICIENTS, LOWEST_POWER } from './token-weight.ts';
import {
  BLOCK_BYTES,
  BUCKET_FUNCTIONS,
  type BucketFunctions,
  HIGH_TO_LOW,
  VECTOR_BYTES,
} from './wasm-bucket-functions.ts';
import {
  advance,
  type Code,
  encodeModule,
  f32,
  f32x4,
  f64,
  f64x2,
  i32,
  i32x4,
  ifElse,
  ifTrue,
  type Local,
  reorder,
  repeatWhile,
  select,
  splat,
  v128,
  type WasmFunction,
} from './wasm-code.ts';

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

const SCAN: WasmFunction = {
  name: 'scan',
  parameters: ['i32', 'i32'],
  result: 'f32',
  variables: ['i32', 'v128', 'v128', 'v128', 'v128', 'v128'],
  body(rowEnd, blockMaximum, at, even, odd, vector, best, nan) {
    // Two running maxima: each step of one waits for the step before it.
    const takeVector = (index: number): readonly Code[] => {
      const running = index % 2 === 0 ? even! : odd!;
      const loaded = vector!.set(v128.load(at!.get, index * VECTOR_BYTES));
      const noticeNan = nan!.set(v128.or(nan!.get, f32x4.isNotEqual(vector!.get, vector!.get)));
      const next = index < 2 ? vector!.get : f32x4.max(running.get, vector!.get);
      return [loaded, noticeNan, running.set(next)];
    };
    const vectorCount = BLOCK_BYTES / VECTOR_BYTES;
    return [
      best!.set(f32x4.splat(f32.constant(-Infinity))),
      repeatWhile(i32.isLess(at!.get, rowEnd!.get), [
        ...Array.from({ length: vectorCount }, (_, index) => takeVector(index)).flat(),
        even!.set(f32x4.max(even!.get, odd!.get)),
        even!.set(f32x4.max(even!.get, reorder(even!.get, HIGH_TO_LOW))),
        even!.set(f32x4.max(even!.get, reorder(even!.get, SECOND_TO_FIRST))),
        best!.set(f32x4.max(best!.get, even!.get)),
        f32.store(blockMaximum!.get, f32x4.first(even!.get)),
        advance(blockMaximum!, Float32Array.BYTES_PER_ELEMENT),
        advance(at!, BLOCK_BYTES),
      ]),
      select(f32.constant(Number.NaN), f32x4.first(best!.get), v128.anyTrue(nan!.get)),
    ];
  },
};

/** `weigh`, or with one more parameter `keepWeights`, which also stores what it adds. */
function weighing(name: 'weigh' | 'keepWeights'): WasmFunction {
  const keeps = name === 'keepWeights';
  return {
    name,
    parameters: ['i32', 'i32', 'i32', 'f32', 'f32', 'f32', 'f32', 'f32', 'i32'],
    result: 'f64',
    variables: ['i32', 'i32', 'f64', 'f64', ...Array<'v128'>(10).fill('v128')],
    body(...locals) {
      const [
        rowEnd,
        blockMaximum,
        blockMass,
        largest,
        factor,
        rounder,
        lowestPower,
        lowestLogit,
        weights,
        at,
        blockEnd,
        mass,
        total,
        largests,
        factors,
        rounders,
        limits,
        vector,
        power,
        shifted,
        rest,
        low,
        high,
      ] = locals as readonly Local[] as WeighingLocals;
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
          low.set(f64x2.add(low.get, f64x2.fromLowF32(rest.get))),
          high.set(f64x2.add(high.get, f64x2.fromLowF32(reorder(rest.get, HIGH_TO_LOW)))),
        ];
      };
      const reachesLimit = f32.isAtLeast(f32.load(blockMaximum.get), lowestLogit.get);
      const hasWeight = i32.and(f32.isAtLeast(bestPower, lowestPower.get), reachesLimit);
      const zero = f64x2.splat(f64.constant(0));
      const vectorCount = BLOCK_BYTES / VECTOR_BYTES;
      const keepNothing = Array.from({ length: vectorCount }, (_, index) =>
        keep(index * VECTOR_BYTES, splat(0)),
      );
      return [
        largests.set(f32x4.splat(largest.get)),
        factors.set(f32x4.splat(factor.get)),
        rounders.set(f32x4.splat(rounder.get)),
        limits.set(f32x4.splat(lowestLogit.get)),
        repeatWhile(i32.isLess(at.get, rowEnd.get), [
          blockEnd.set(i32.add(at.get, i32.constant(BLOCK_BYTES))),
          mass.set(f64.constant(0)),
          ifElse(
            hasWeight,
            [
              low.set(zero),
              high.set(zero),
              repeatWhile(i32.isLess(at.get, blockEnd.get), [
                ...Array.from({ length: UNROLL }, (_, index) => addVector(index * VECTOR_BYTES)).flat(),
                advance(at, UNROLL * VECTOR_BYTES),
              ]),
              low.set(f64x2.add(low.get, high.get)),
              mass.set(f64.add(f64x2.first(low.get), f64x2.second(low.get))),
            ],
            [ifTrue(reachesLimit, keepNothing)],
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
  };
}

/** Nine parameters and fourteen variables. */
type WeighingLocals = readonly [
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
  Local,
];

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
