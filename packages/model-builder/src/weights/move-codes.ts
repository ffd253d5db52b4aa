// Moves the codes of a checkpoint into tiles of the CPU kernels, without a change of any value.

import {
  BLOCK_INPUTS,
  blockBytes,
  codeOffset,
  packBlock,
  packSuperBlock,
  type QuantisedFormat,
  SUPER_BLOCK_INPUTS,
  type SuperBlockFormat,
  superBlockBytes,
  TILE_OUTPUTS,
  type WeightFormat,
} from '@ortler/kernels';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { type CodeRows, codeShift, holdsCodes, type SuperBlockRows } from '../stored-codes.ts';

/** Writes tile `tile` of the rows at byte `at`; rows after the last one are zero. Mutates: `chunk`, zero there before. */
export type TileWriter = (tile: number, chunk: Uint8Array, at: number) => void;

/** The codes of a tensor, for a format that holds them. */
export interface MovableCodes {
  /** Reads rows `[first, first + count)`. Throws: as `CheckpointTensor.readFloats`. */
  readTiles(first: number, count: number): Promise<TileWriter>;
}

/** Undefined where the format does not hold the codes of the tensor, or it has none. */
export function movableCodes(
  { quantised }: CheckpointTensor,
  target: WeightFormat,
): MovableCodes | undefined {
  const { codes, superBlocks } = quantised ?? {};
  if (superBlocks !== undefined && superBlocks.format === target) {
    const { format } = superBlocks;
    return {
      async readTiles(first, count) {
        const rows = await superBlocks.readRows(first, count);
        return (tile, chunk, at) => moveSuperTile(rows, format, tile, { chunk, at });
      },
    };
  }
  if (codes === undefined || !holdsCodes(target, codes.format)) return undefined;
  const { format } = codes;
  return {
    async readTiles(first, count) {
      const rows = await codes.readRows(first, count);
      return (tile, chunk, at) => moveTile(rows, { format, target }, tile, { chunk, at });
    },
  };
}

interface Place {
  readonly chunk: Uint8Array;
  readonly at: number;
}

function moveTile(
  { rowCount, width, ...rows }: CodeRows,
  { format, target }: { readonly format: QuantisedFormat; readonly target: QuantisedFormat },
  tile: number,
  { chunk, at }: Place,
): void {
  const blocks = width / BLOCK_INPUTS;
  const size = blockBytes(target);
  const shift = codeShift(target, format);
  const first = tile * TILE_OUTPUTS;
  const present = Math.min(TILE_OUTPUTS, rowCount - first);
  const block = {
    codes: new Uint8Array(TILE_OUTPUTS * BLOCK_INPUTS).fill(codeOffset(target)),
    scales: new Uint16Array(TILE_OUTPUTS),
    minimums: new Uint16Array(TILE_OUTPUTS),
  };
  for (let column = 0; column < blocks; column++) {
    for (let output = 0; output < present; output++) {
      const row = first + output;
      const from = row * width + column * BLOCK_INPUTS;
      for (let i = 0; i < BLOCK_INPUTS; i++)
        block.codes[output * BLOCK_INPUTS + i] = rows.codes[from + i]! + shift;
      block.scales[output] = rows.scales[row * blocks + column]!;
      block.minimums[output] = rows.minimums[row * blocks + column]!;
    }
    packBlock(target, block, chunk, at + column * size);
  }
}

function moveSuperTile(
  { rowCount, width, ...rows }: SuperBlockRows,
  format: SuperBlockFormat,
  tile: number,
  { chunk, at }: Place,
): void {
  const columns = width / SUPER_BLOCK_INPUTS;
  const first = tile * TILE_OUTPUTS;
  const present = Math.min(TILE_OUTPUTS, rowCount - first);
  // Rows after the last one keep factors of zero.
  const block = {
    codes: new Uint8Array(TILE_OUTPUTS * SUPER_BLOCK_INPUTS),
    scales: new Uint8Array(TILE_OUTPUTS * 16),
    factors: new Uint16Array(TILE_OUTPUTS),
    minimumFactors: new Uint16Array(TILE_OUTPUTS),
  };
  for (let column = 0; column < columns; column++) {
    for (let output = 0; output < present; output++) {
      const from = (first + output) * columns + column;
      block.codes.set(
        rows.codes.subarray(from * SUPER_BLOCK_INPUTS, (from + 1) * SUPER_BLOCK_INPUTS),
        output * SUPER_BLOCK_INPUTS,
      );
      block.scales.set(rows.scales.subarray(16 * from, 16 * (from + 1)), 16 * output);
      block.factors[output] = rows.factors[from]!;
      block.minimumFactors[output] = rows.minimumFactors[from]!;
    }
    packSuperBlock(format, block, chunk, at + column * superBlockBytes(format));
  }
}
