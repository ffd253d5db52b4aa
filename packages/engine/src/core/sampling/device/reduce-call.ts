// The first call about a batch of rows: which graph has the features that any of them needs, and the values of its inputs.
// Caller: `device-sampler.ts`.

import type { ElementArray } from '@ortler/onnxruntime';
import { weightScale } from '../kernels/token-weight.ts';
import type { TokenEdits } from '../token-edits.ts';
import type { CallSize, DeviceCall } from './device-calls.ts';
import type { RowShape } from './row-shape.ts';
import { NO_EDITS, type RowWork } from './row-work.ts';
import type { GraphShape, ReduceFeatures } from './sampling-graphs.ts';

export function featuresFor(batch: readonly RowWork[], shape: GraphShape): ReduceFeatures {
  const some = (test: (work: RowWork) => boolean): boolean => batch.some(test);
  return {
    mask: some(({ mask }) => mask !== null),
    allowed: some(({ edits }) => edits.allowedTokenIds !== null),
    edits: some(({ edits }) => edits.tokenIds.length > 0),
    penalties: some(({ edits }) => edits.penalties.some(penalty => penalty !== 1)),
    weightSums: some(work => needsWeightSums(work, shape)),
    logprobs: some(({ topCount }) => topCount !== undefined),
  };
}

function needsWeightSums({ question }: RowWork, { vocabSize, candidateCount }: GraphShape): boolean {
  if (question.kind === 'read') return false;
  const { temperature, topK, minP } = question.step.params;
  return temperature > 0 && minP === 0 && (topK === 0 || topK >= vocabSize) && vocabSize > candidateCount;
}

/** Mutates: the arrays of the call, which has that size and those features. */
export function fillReduce(
  { arrays }: DeviceCall,
  batch: readonly RowWork[],
  features: ReduceFeatures,
  { size, shape }: { readonly size: CallSize; readonly shape: GraphShape },
): void {
  const { rowCount, editCount } = size;
  const places = { editCount, spareId: shape.vocabSize };
  const rows = arrays.get('rows')!;
  rows.fill(0 as never);
  batch.forEach(({ row, edits, mask, temperature }, index) => {
    rows[index] = row;
    if (features.mask) fillMask(arrays.get('mask') as Int32Array, index, mask?.words ?? null, shape);
    if (features.allowed) fillMask(arrays.get('allowed') as Int32Array, index, edits.allowedTokenIds, shape);
    if (features.edits) fillEdits(arrays, index, edits, places);
    if (features.weightSums) arrays.get('factor')![index] = weightScale(0, temperature || 1, 0).factor;
  });
  // Rows that only fill up the call are not read, but must be something that can be computed.
  for (let index = batch.length; index < rowCount; index++) {
    if (features.edits) fillEdits(arrays, index, NO_EDITS, places);
    if (features.weightSums) arrays.get('factor')![index] = 1;
  }
}

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
 * Writes the edits of a row; places beyond them edit `spareId`, after the vocabulary. Mutates: the arrays of all rows.
 */
function fillEdits(
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
