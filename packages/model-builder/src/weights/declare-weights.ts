// Declares weights of the graph whose values come from the checkpoint when the graph is written.

import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { GraphRecorder } from '../onnx/graph.ts';
import {
  allocateQuantisedRows,
  blockCount,
  type CodeBits,
  QUANTISATION_BLOCK,
  quantiseRows4,
  quantiseRows8,
} from './quantise.ts';
import { bytesOf, rowChunks } from './row-chunks.ts';

/** Names of a quantised matrix in the graph. */
export interface QuantisedMatrix {
  readonly bits: CodeBits;
  readonly rowCount: number;
  readonly width: number;
  readonly codes: string;
  readonly scales: string;
  /** Empty with 8 bits: the operators then assume 128, which is what the quantiser used. */
  readonly zeroPoints: string;
}

/** Declares float32 weights that are one or more checkpoint tensors joined along their first dimension. */
export function declareFloats(
  graph: GraphRecorder,
  name: string,
  parts: readonly CheckpointTensor[],
): string {
  const { rowCount, width } = joinedShape(parts);
  graph.weightGroup({
    tensors: [{ name, type: 'float32', dims: [rowCount, ...parts[0]!.shape.slice(1)] }],
    async *produce() {
      for await (const chunk of rowChunks(parts, width)) yield [bytesOf(chunk)];
    },
  });
  return name;
}

/** How the dimensions of codes and scales are written down; the bytes are the same. */
export type QuantisedLayout = 'matmul' | 'gather';

/**
 * Declares matrices of equal width, joined along their rows and quantised.
 *
 * Shape: codes `[rows, blocks, bytes]` and scales `[rows * blocks]` for `matmul`; `[rows, blocks * bytes]` and
 * `[rows, blocks]` for `gather`.
 */
export function declareQuantised(
  graph: GraphRecorder,
  name: string,
  parts: readonly CheckpointTensor[],
  bits: CodeBits,
  layout: QuantisedLayout,
): QuantisedMatrix {
  const { rowCount, width } = joinedShape(parts);
  const matrix: QuantisedMatrix = {
    bits,
    rowCount,
    width,
    codes: `${name}.codes`,
    scales: `${name}.scales`,
    zeroPoints: bits === 4 ? `${name}.zero_points` : '',
  };
  const blocks = blockCount(width);
  const zeroPointDims = [rowCount, Math.ceil(blocks / 2)];
  graph.weightGroup({
    tensors: [
      ...codeTensors(matrix, layout),
      ...(bits === 4 ? [{ name: matrix.zeroPoints, type: 'uint8' as const, dims: zeroPointDims }] : []),
    ],
    async *produce() {
      let target = allocateQuantisedRows(0, width, bits);
      for await (const chunk of rowChunks(parts, width)) {
        const rows = chunk.length / width;
        if (target.scales.length !== rows * blocks) target = allocateQuantisedRows(rows, width, bits);
        (bits === 4 ? quantiseRows4 : quantiseRows8)(chunk, width, target);
        const { codes, scales, zeroPoints } = target;
        yield bits === 4 ? [codes, bytesOf(scales), zeroPoints] : [codes, bytesOf(scales)];
      }
    },
  });
  return matrix;
}

/** The same stored bytes under other names with the dimensions of `layout`; nothing is stored twice. */
export function aliasQuantised(
  graph: GraphRecorder,
  name: string,
  matrix: QuantisedMatrix,
  layout: QuantisedLayout,
): QuantisedMatrix {
  const alias = { ...matrix, codes: `${name}.codes`, scales: `${name}.scales` };
  const [codes, scales] = codeTensors(alias, layout);
  graph.weightAlias(codes, matrix.codes);
  graph.weightAlias(scales, matrix.scales);
  return alias;
}

function codeTensors({ bits, rowCount, width, codes, scales }: QuantisedMatrix, layout: QuantisedLayout) {
  const blocks = blockCount(width);
  const blockBytes = (QUANTISATION_BLOCK * bits) / 8;
  const isMatMul = layout === 'matmul';
  return [
    {
      name: codes,
      type: 'uint8',
      dims: isMatMul ? [rowCount, blocks, blockBytes] : [rowCount, blocks * blockBytes],
    },
    { name: scales, type: 'float32', dims: isMatMul ? [rowCount * blocks] : [rowCount, blocks] },
  ] as const;
}

function joinedShape(parts: readonly CheckpointTensor[]): { rowCount: number; width: number } {
  return {
    rowCount: parts.reduce((sum, part) => sum + part.shape[0]!, 0),
    width: parts[0]!.shape.slice(1).reduce((product, dim) => product * dim, 1),
  };
}
