// The first call about a batch of rows: which graph has what all of them need, and what goes into its inputs. Caller:
// `device-sampler.ts`.

import { weightScale } from '../kernels/token-weight.ts';
import type { CallSize, DeviceCall } from './device-calls.ts';
import { fillEdits, fillMask } from './fill-inputs.ts';
import { NO_EDITS, type RowWork } from './row-work.ts';
import type { GraphShape, ReduceFeatures } from './sampling-graphs.ts';

export function featuresFor(batch: readonly RowWork[], shape: GraphShape): ReduceFeatures {
  const some = (test: (work: RowWork) => boolean): boolean => batch.some(test);
  return {
    mask: some(({ mask }) => mask !== null),
    allowed: some(({ edits }) => edits.allowedTokenIds !== null),
    edits: some(({ edits }) => edits.tokenIds.length > 0),
    penalties: some(({ edits }) => edits.penalties.some(penalty => penalty !== 1)),
    masses: some(work => needsMasses(work, shape)),
    logprobs: some(({ topCount }) => topCount !== undefined),
  };
}

function needsMasses({ question }: RowWork, { vocabSize, candidateCount }: GraphShape): boolean {
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
    if (features.masses) arrays.get('factor')![index] = weightScale(0, temperature || 1, 0).factor;
  });
  // Rows that only fill up the call are not read, but must be something that can be computed.
  for (let index = batch.length; index < rowCount; index++) {
    if (features.edits) fillEdits(arrays, index, NO_EDITS, places);
    if (features.masses) arrays.get('factor')![index] = 1;
  }
}
