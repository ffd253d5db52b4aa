// The error of a format on a sample of a matrix, so that a format can be chosen before the matrix is quantised as a whole.

import { BLOCK_INPUTS, codeOffset, type QuantisedFormat } from '@ortler/kernels';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { createFittedBlock, fitBlock } from './fit-block.ts';

/** Groups of rows, evenly from the first row to the last. */
const SAMPLED_GROUPS = 16;
const GROUP_ROWS = 4;

/** Maximum number of blocks of each of these rows. */
const SAMPLED_BLOCKS = 8;

/** Maximum number of tensors of a matrix of many, those of experts. */
const SAMPLED_TENSORS = 8;

/**
 * The tensors of a matrix; where it has many of equal kind, some of them, evenly spaced from the first to the
 * last.
 */
export function sampledTensors(tensors: readonly CheckpointTensor[]): readonly CheckpointTensor[] {
  if (tensors.length <= SAMPLED_TENSORS) return tensors;
  // An odd distance, so that gates and ups, which take turns, are both among them.
  const step = Math.floor((tensors.length - 1) / SAMPLED_TENSORS) | 1;
  return Array.from({ length: SAMPLED_TENSORS }, (_, i) => tensors[i * step]!);
}

/**
 * Whole blocks of a matrix, at most 16,384 weights: the relative error of a sample is within about 2 % of
 * that of the whole matrix. The same matrix has the same sample in every build.
 *
 * Throws: as `CheckpointTensor.readFloats`.
 */
export async function sampleBlocks({ shape, readFloats }: CheckpointTensor): Promise<Float32Array> {
  const [rowCount, inputs] = shape as readonly [number, number];
  const groupRows = Math.min(GROUP_ROWS, rowCount);
  const groups = Math.min(SAMPLED_GROUPS, Math.ceil(rowCount / GROUP_ROWS));
  const stride = Math.ceil(Math.ceil(inputs / BLOCK_INPUTS) / SAMPLED_BLOCKS);
  const sample = new Float32Array(groups * groupRows * SAMPLED_BLOCKS * BLOCK_INPUTS);
  const rows = new Float32Array(groupRows * inputs);
  let at = 0;
  for (let group = 0; group < groups; group++) {
    const first = groups === 1 ? 0 : Math.round((group * (rowCount - groupRows)) / (groups - 1));
    await readFloats(first * inputs, rows);
    for (let row = 0; row < groupRows; row++) {
      // Rows begin with different blocks, so that columns with outliers are in the sample.
      for (let from = (row % stride) * BLOCK_INPUTS; from < inputs; from += stride * BLOCK_INPUTS) {
        // The last block of a row may be short; the rest of it stays zero, as in a tile.
        const to = Math.min(from + BLOCK_INPUTS, inputs);
        sample.set(rows.subarray(row * inputs + from, row * inputs + to), at);
        at += BLOCK_INPUTS;
      }
    }
  }
  return sample.subarray(0, at);
}

/** Root mean square of the errors, relative to that of the values: 0 is exact. `values`: whole blocks. */
export function relativeError(format: QuantisedFormat, values: Float32Array): number {
  const fitted = createFittedBlock();
  const offset = codeOffset(format);
  let squares = 0;
  let errors = 0;
  for (let from = 0; from < values.length; from += BLOCK_INPUTS) {
    fitBlock(format, values, from, fitted);
    const { codes, scale, minimum } = fitted;
    for (let i = 0; i < BLOCK_INPUTS; i++) {
      const value = values[from + i]!;
      const error = value - ((codes[i]! - offset) * scale + minimum);
      squares += value * value;
      errors += error * error;
    }
  }
  return squares === 0 ? 0 : Math.sqrt(errors / squares);
}
