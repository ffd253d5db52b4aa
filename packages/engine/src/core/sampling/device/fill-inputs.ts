// Writes what a row is edited by into the inputs of a call. Caller: `device-sampler.ts`.

import type { ElementArray } from '@ortler/onnxruntime';
import type { TokenEdits } from '../token-edits.ts';
import type { RowShape } from './row-shape.ts';

/** Bits in a number of a mask: what int32 arithmetic of a device takes apart without a sign. */
const MASK_BITS = 16;

/**
 * Writes the mask of a row: 32 tokens in each word, or a list of the allowed ones, or null for everything. Mutates:
 * `target`, which has the masks of all rows.
 */
export function fillMask(
  target: Int32Array,
  index: number,
  mask: Uint32Array | Int32Array | null,
  { paddedLength }: RowShape,
): void {
  const length = paddedLength / MASK_BITS;
  const row = target.subarray(index * length, (index + 1) * length);
  if (mask === null) {
    row.fill(0xffff);
    return;
  }
  row.fill(0);
  if (mask instanceof Uint32Array) {
    for (let word = 0; word < mask.length; word++) {
      const bits = mask[word]!;
      row[2 * word] = bits & 0xffff;
      row[2 * word + 1] = bits >>> 16;
    }
    return;
  }
  for (const id of mask) row[id >> 4]! |= 1 << (id & 15);
}

/**
 * Writes the edits of a row; places beyond them edit `spareId`, behind the vocabulary. Mutates: the arrays of all rows.
 */
export function fillEdits(
  arrays: ReadonlyMap<string, ElementArray>,
  index: number,
  edits: TokenEdits,
  { editCount, spareId }: { readonly editCount: number; readonly spareId: number },
): void {
  const start = index * editCount;
  const write = (name: string, values: readonly number[], rest: number): void => {
    const array = arrays.get(name);
    if (array === undefined) return;
    array.fill(rest as never, start, start + editCount);
    for (let i = 0; i < values.length; i++) array[start + i] = values[i]!;
  };
  write('editIds', edits.tokenIds, spareId);
  write('biases', edits.biases, 0);
  write('penalties', edits.penalties, 1);
  if (arrays.has('penaltyHalves')) write('penaltyHalves', edits.penalties.map(upperHalf), 1);
  write('frequencies', edits.frequencies, 0);
  write('presences', edits.presences, 0);
}

/** The upper 12 bits of a float32, rounded so that what is left has 12 as well. Source: Veltkamp's splitting. */
function upperHalf(value: number): number {
  const scaled = Math.fround(value * (2 ** 12 + 1));
  return Math.fround(scaled - Math.fround(scaled - value));
}
