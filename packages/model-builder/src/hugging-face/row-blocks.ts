// Rows of a tensor in another order: blocks of rows, one after the other.

import { BLOCK_INPUTS } from '@ortler/kernels';
import { allocateCodeRows, type StoredCodes } from '../stored-codes.ts';
import type { CheckpointTensor } from './checkpoint-tensor.ts';

export interface RowBlock {
  readonly first: number;
  readonly count: number;
}

/** These rows of a matrix, codes of blocks included. Whole rows are read of it. */
export function rowBlocks(tensor: CheckpointTensor, blocks: readonly RowBlock[]): CheckpointTensor {
  const { quantised, readFloats } = tensor;
  const width = tensor.shape[1]!;
  const codes = quantised?.codes;
  return {
    name: `${tensor.name}[${blocks.length} blocks]`,
    shape: [blocks.reduce((sum, { count }) => sum + count, 0), width],
    ...(quantised === undefined
      ? {}
      : { quantised: { type: quantised.type, codes: codes && codesOf(codes, blocks) } }),
    async readFloats(from, target) {
      for (const { source, place, count } of piecesOf(blocks, from / width, target.length / width))
        await readFloats(source * width, target.subarray(place * width, (place + count) * width));
    },
  };
}

function codesOf(codes: StoredCodes, blocks: readonly RowBlock[]): StoredCodes {
  return {
    format: codes.format,
    async readRows(first, count) {
      const pieces = [...piecesOf(blocks, first, count)];
      const read = await Promise.all(pieces.map(piece => codes.readRows(piece.source, piece.count)));
      const { width } = read[0]!;
      const rows = allocateCodeRows(count, width);
      for (const [i, { place }] of pieces.entries()) {
        rows.codes.set(read[i]!.codes, place * width);
        rows.scales.set(read[i]!.scales, (place * width) / BLOCK_INPUTS);
        rows.minimums.set(read[i]!.minimums, (place * width) / BLOCK_INPUTS);
      }
      return rows;
    },
  };
}

/**
 * Where rows `[first, first + count)` of all blocks are in the tensor, and their places among the requested
 * ones.
 */
function* piecesOf(blocks: readonly RowBlock[], first: number, count: number) {
  let before = 0;
  for (const block of blocks) {
    const from = Math.max(first, before);
    const to = Math.min(first + count, before + block.count);
    if (from < to) yield { source: block.first + from - before, place: from - first, count: to - from };
    before += block.count;
  }
}
