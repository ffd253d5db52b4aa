// Declares weights of the graph, as floats or quantised in blocks. Values are read from the checkpoint when the graph is
// written.

import type { GraphRecorder } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { activationBytes, type FloatType } from './float16.ts';
import { movedRows } from './moved-rows.ts';
import {
  allocateQuantisedRows,
  type BlockFormat,
  blockCount,
  hasZeroPoints,
  type QuantisedRows,
  quantiseRows4,
  quantiseRows8,
} from './quantise.ts';
import { rowChunks } from './row-chunks.ts';

/** A block-quantised matrix in the graph, and the names of its tensors. */
export interface QuantisedMatrix extends BlockFormat {
  readonly scaleType: FloatType;
  readonly rowCount: number;
  readonly width: number;
  readonly codes: string;
  readonly scales: string;
  /** Empty where the operators' default is the zero point of all blocks. */
  readonly zeroPoints: string;
}

/**
 * Declares float weights: one or more checkpoint tensors, concatenated along their first dimension.
 * The producer throws: `unsupported` for values out of the range of the type.
 */
export function declareFloats(
  graph: GraphRecorder,
  name: string,
  parts: readonly CheckpointTensor[],
  type: FloatType,
): string {
  const { rowCount, width } = joinedShape(parts);
  graph.weightGroup({
    tensors: [{ name, type, dims: [rowCount, ...parts[0]!.shape.slice(1)] }],
    async *produce() {
      for await (const chunk of rowChunks(parts, width)) yield [activationBytes(chunk, type, name)];
    },
  });
  return name;
}

/**
 * Declared dimensions of scales; the bytes are the same. `matmul`: for products, `[rows * blocks]`. `rows`: for products and
 * lookups of rows, `[rows, blocks]`. `blocks`: for `GatherBlockQuantized`, `[rows, blocks, 1]`.
 */
export type QuantisedLayout = 'matmul' | 'rows' | 'blocks';

const SCALE_DIMS: Readonly<Record<QuantisedLayout, (rows: number, blocks: number) => readonly number[]>> = {
  matmul: (rows, blocks) => [rows * blocks],
  rows: (rows, blocks) => [rows, blocks],
  blocks: (rows, blocks) => [rows, blocks, 1],
};

export interface QuantisedOptions extends BlockFormat {
  readonly layout: QuantisedLayout;
  readonly scaleType: FloatType;
}

/**
 * Declares matrices of equal width, concatenated by rows and quantised in blocks. Codes of the checkpoint that the operators
 * hold are moved; other values are fitted.
 *
 * Shape: codes `[rows, blocks, bytes]`; scales as the layout says.
 */
export function declareQuantised(
  graph: GraphRecorder,
  name: string,
  parts: readonly CheckpointTensor[],
  { layout, scaleType, ...format }: QuantisedOptions,
): QuantisedMatrix {
  const { blockSize } = format;
  const ownZeroPoints = hasZeroPoints(format);
  const { rowCount, width } = joinedShape(parts);
  const matrix: QuantisedMatrix = {
    ...format,
    scaleType,
    rowCount,
    width,
    codes: `${name}.codes`,
    scales: `${name}.scales`,
    zeroPoints: ownZeroPoints ? `${name}.zero_points` : '',
  };
  const blocks = blockCount(width, blockSize);
  const zeroPointDims = [rowCount, Math.ceil(blocks / 2)];
  graph.weightGroup({
    tensors: [
      ...codeTensors(matrix, layout),
      ...(ownZeroPoints ? [{ name: matrix.zeroPoints, type: 'uint8' as const, dims: zeroPointDims }] : []),
    ],
    async *produce() {
      for (const part of parts) {
        const moved = scaleType === 'float32' ? movedRows(part, matrix) : undefined;
        for await (const { codes, scales, zeroPoints } of moved ?? fittedRows(part, width, matrix)) {
          const scaleBytes = activationBytes(scales, scaleType, matrix.scales);
          yield ownZeroPoints ? [codes, scaleBytes, zeroPoints] : [codes, scaleBytes];
        }
      }
    },
  });
  return matrix;
}

/** The next rows overwrite those before. */
async function* fittedRows(
  part: CheckpointTensor,
  width: number,
  matrix: QuantisedMatrix,
): AsyncGenerator<QuantisedRows> {
  let target = allocateQuantisedRows(0, width, matrix);
  const blocks = blockCount(width, matrix.blockSize);
  for await (const chunk of rowChunks([part], width)) {
    const rows = chunk.length / width;
    if (target.scales.length !== rows * blocks) target = allocateQuantisedRows(rows, width, matrix);
    (matrix.bits === 4 ? quantiseRows4 : quantiseRows8)(chunk, width, target, matrix.scaleType);
    yield target;
  }
}

function codeTensors(
  { bits, blockSize, scaleType, rowCount, width, codes, scales }: QuantisedMatrix,
  layout: QuantisedLayout,
) {
  const blocks = blockCount(width, blockSize);
  return [
    { name: codes, type: 'uint8', dims: [rowCount, blocks, (blockSize * bits) / 8] },
    { name: scales, type: scaleType, dims: SCALE_DIMS[layout](rowCount, blocks) },
  ] as const;
}

function joinedShape(parts: readonly CheckpointTensor[]): { rowCount: number; width: number } {
  return {
    rowCount: parts.reduce((sum, part) => sum + part.shape[0]!, 0),
    width: parts[0]!.shape.slice(1).reduce((product, dim) => product * dim, 1),
  };
}
