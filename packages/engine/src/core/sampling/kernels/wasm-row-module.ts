// The loops over a row as a WebAssembly module, written at run time. Caller: `wasm-kernels.ts`.

import { eachBlock, eachVector, HIGH_TO_LOW, VECTOR_BYTES } from './wasm-block-loops.ts';
import { type Code, f32, f32x4, reorder, select, v128 } from './wasm-instructions.ts';
import { KEPT_FUNCTIONS, type KeptFunctions } from './wasm-kept-functions.ts';
import { encodeModule, wasmFunction } from './wasm-module.ts';
import { SPREAD_FUNCTIONS, type SpreadFunctions } from './wasm-spread-functions.ts';
import { WEIGH_FUNCTIONS, type WeighFunctions } from './wasm-weigh-functions.ts';

/** The exports of the module. Addresses are bytes: `row` and `rowEnd` of the memory of the row, all others of the other one. */
export interface RowFunctions extends WeighFunctions, KeptFunctions, SpreadFunctions {
  /** Writes the largest logit of each block; gives that of the row, or NaN when the row has one. */
  scan(row: number, rowEnd: number, blockMaxima: number): number;
}

const SECOND_TO_FIRST = [1, 1, 1, 1] as const;

const SCAN = wasmFunction({
  name: 'scan',
  parameters: { at: 'i32', rowEnd: 'i32', blockMaximum: 'i32' },
  result: 'f32',
  variables: { even: 'v128', odd: 'v128', vector: 'v128', best: 'v128', nan: 'v128' },
  body({ rowEnd, blockMaximum, at, even, odd, vector, best, nan }) {
    // Two running maxima: each step of one waits for the step before it.
    const takeVector = (offset: number): readonly Code[] => {
      const index = offset / VECTOR_BYTES;
      const running = index % 2 === 0 ? even : odd;
      const loaded = vector.set(v128.loadRow(at.get, offset));
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

/** Bytes of the module; see `RowFunctions`. */
export function encodeRowModule(): Uint8Array<ArrayBuffer> {
  return encodeModule([SCAN, ...WEIGH_FUNCTIONS, ...KEPT_FUNCTIONS, ...SPREAD_FUNCTIONS]);
}
