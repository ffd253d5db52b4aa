// The weights of a row and their sums in WebAssembly. Each instruction of the weight is one of `token-weight.ts`, four
// tokens at a time. Caller: `wasm-row-module.ts`.

import { EXP2_COEFFICIENTS, LOWEST_POWER } from './token-weight.ts';
import { BLOCK_BYTES, eachVector, laneSums, reachesLimit, VECTOR_BYTES } from './wasm-block-loops.ts';
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
  type Local,
  repeatWhile,
  splat,
  v128,
} from './wasm-instructions.ts';
import { numbered, type WasmFunction, wasmFunction } from './wasm-module.ts';

/** Addresses as in `RowFunctions`. */
export interface WeighFunctions {
  /**
   * Writes the weight of each token and the sum of each block, and gives that of the row. `rounder` is `ROUNDER + bits`;
   * blocks whose best power of two is below `lowestPower` have no weight. Of a block whose best token does not reach
   * `lowestLogit` no weights are written. `weights` is the address of the first one, less that of the row.
   */
  weighAll(
    row: number,
    rowEnd: number,
    blockMaxima: number,
    blockWeightSums: number,
    largest: number,
    factor: number,
    rounder: number,
    lowestPower: number,
    lowestLogit: number,
    weights: number,
  ): number;
  /** Like `weighAll`, but tokens below `lowestLogit` have no weight. */
  weighReaching: WeighFunctions['weighAll'];
}

/**
 * Vectors that are computed side by side: a weight is a long chain of operations, each waiting for the one before it.
 * As many chains as half a block has were the fastest.
 */
const GROUP = [0, 1, 2, 3, 4, 5, 6, 7] as const;
/** Bits of a float32 after its exponent. */
const MANTISSA_BITS = 23;
/** Of `2 ** f`: 1 and those of the powers of f. */
const COEFFICIENTS = [1, ...EXP2_COEFFICIENTS];
const COEFFICIENT_INDEXES = [0, 1, 2, 3, 4, 5, 6] as const;

/** The parameters of `token-weight.ts` as vectors, set before the loop, because in it every constant is built again. */
interface WeightVectors {
  readonly largests: Local;
  readonly factors: Local;
  readonly rounders: Local;
  readonly lowestPowers: Local;
  readonly coefficients: readonly Local[];
}

/** A vector on its way to weights. */
interface Lane {
  readonly power: Local;
  readonly shifted: Local;
  readonly weight: Local;
}

function weighing(name: keyof WeighFunctions): WasmFunction {
  return wasmFunction({
    name,
    parameters: {
      at: 'i32',
      rowEnd: 'i32',
      blockMaximum: 'i32',
      blockWeightSum: 'i32',
      largest: 'f32',
      factor: 'f32',
      rounder: 'f32',
      lowestPower: 'f32',
      lowestLogit: 'f32',
      weights: 'i32',
    },
    result: 'f64',
    variables: {
      blockEnd: 'i32',
      blockWeight: 'i32',
      weightSum: 'f64',
      total: 'f64',
      largests: 'v128',
      factors: 'v128',
      rounders: 'v128',
      lowestPowers: 'v128',
      limits: 'v128',
      low: 'v128',
      high: 'v128',
      ...numbered('coefficient', COEFFICIENT_INDEXES, 'v128'),
      ...numbered('power', GROUP, 'v128'),
      ...numbered('shifted', GROUP, 'v128'),
      ...numbered('weight', GROUP, 'v128'),
    },
    body(locals) {
      const { rowEnd, blockMaximum, blockWeightSum, largest, factor, rounder, lowestPower, lowestLogit } =
        locals;
      const { weights, at, blockEnd, blockWeight, weightSum, total, limits, low, high } = locals;
      const { largests, factors, rounders, lowestPowers } = locals;
      const coefficients = COEFFICIENT_INDEXES.map(index => locals[`coefficient${index}`]);
      const group = GROUP.map(index => ({
        power: locals[`power${index}`],
        shifted: locals[`shifted${index}`],
        weight: locals[`weight${index}`],
      }));
      const inGroup = sideBySide(group);
      const weightAt = i32.add(at.get, weights.get);
      const addWeights = eachVector(offset => laneSums.addStored(low, high, blockWeight.get, offset));
      const dropBelow = inGroup(({ weight }, offset) =>
        weight.set(v128.and(weight.get, f32x4.isAtLeast(v128.loadRow(at.get, offset), limits.get))),
      );
      const storeGroup: readonly Code[] = [
        ...weighGroup(inGroup, at, { ...locals, coefficients }),
        name === 'weighAll' ? [] : dropBelow,
        inGroup(({ weight }, offset) => v128.store(weightAt, offset, weight.get)),
      ];
      const bestPower = f32.mul(f32.sub(f32.load(blockMaximum.get), largest.get), factor.get);
      const reaches = reachesLimit(lowestLogit, blockMaximum);
      const hasWeight = i32.and(f32.isAtLeast(bestPower, lowestPower.get), reaches);
      return [
        largests.set(f32x4.splat(largest.get)),
        factors.set(f32x4.splat(factor.get)),
        rounders.set(f32x4.splat(rounder.get)),
        lowestPowers.set(splat(LOWEST_POWER)),
        limits.set(f32x4.splat(lowestLogit.get)),
        ...coefficients.map((coefficient, index) => coefficient.set(splat(COEFFICIENTS[index]!))),
        // The inner loop moves `at`, so this one has its own end.
        repeatWhile(i32.isLess(at.get, rowEnd.get), [
          blockEnd.set(i32.add(at.get, i32.constant(BLOCK_BYTES))),
          weightSum.set(f64.constant(0)),
          ifElse(
            hasWeight,
            [
              blockWeight.set(weightAt),
              repeatWhile(i32.isLess(at.get, blockEnd.get), [
                ...storeGroup,
                advance(at, GROUP.length * VECTOR_BYTES),
              ]),
              // Only now: weights that are added one by one as they are made hold up those that come next.
              ...laneSums.clear(low, high),
              ...addWeights,
              ...laneSums.total(low, high, weightSum),
            ],
            [
              ifTrue(
                reaches,
                eachVector(offset => [v128.store(weightAt, offset, splat(0))]),
              ),
            ],
          ),
          f64.store(blockWeightSum.get, weightSum.get),
          total.set(f64.add(total.get, weightSum.get)),
          advance(blockMaximum, Float32Array.BYTES_PER_ELEMENT),
          advance(blockWeightSum, Float64Array.BYTES_PER_ELEMENT),
          at.set(blockEnd.get),
        ]),
        total.get,
      ];
    },
  });
}

export const WEIGH_FUNCTIONS: readonly WasmFunction[] = [weighing('weighAll'), weighing('weighReaching')];

type InGroup = (code: (lane: Lane, offset: number) => Code) => Code;

/** The same code for each vector of the group, one after the other. */
function sideBySide(group: readonly Lane[]): InGroup {
  return code => group.flatMap((lane, index) => code(lane, index * VECTOR_BYTES));
}

/** `tokenWeight` of each logit. */
function weighGroup(inGroup: InGroup, at: Local, scale: WeightVectors): readonly Code[] {
  const { largests, factors, rounders, lowestPowers, coefficients } = scale;
  const [last, ...others] = coefficients.toReversed();
  return [
    inGroup(({ power }, offset) => power.set(f32x4.sub(v128.loadRow(at.get, offset), largests.get))),
    inGroup(({ power }) => power.set(f32x4.mul(power.get, factors.get))),
    inGroup(({ power }) => power.set(f32x4.max(power.get, lowestPowers.get))),
    inGroup(({ power, shifted }) => shifted.set(f32x4.add(power.get, rounders.get))),
    inGroup(({ shifted, weight }) => weight.set(f32x4.sub(shifted.get, rounders.get))),
    inGroup(({ power, weight }) => power.set(f32x4.sub(power.get, weight.get))),
    inGroup(({ weight }) => weight.set(last!.get)),
    ...others.flatMap(coefficient => [
      inGroup(({ power, weight }) => weight.set(f32x4.mul(weight.get, power.get))),
      inGroup(({ weight }) => weight.set(f32x4.add(weight.get, coefficient.get))),
    ]),
    // Where the rounded power is added to the exponent, the bits of the rounder itself are shifted out.
    inGroup(({ shifted }) => shifted.set(i32x4.shiftLeft(shifted.get, i32.constant(MANTISSA_BITS)))),
    inGroup(({ shifted, weight }) => weight.set(i32x4.add(weight.get, shifted.get))),
    inGroup(({ weight }) => weight.set(f32x4.nearest(weight.get))),
  ];
}
