// Embedding: token ids to rows of the embedding table, dequantised if needed.

import { ELEMENT_TYPES, type GraphRecorder, int, MICROSOFT } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { declareFloats, declareQuantised, type QuantisedMatrix } from '../weights/declare-weights.ts';
import { blockCount } from '../weights/quantise.ts';
import { type BlockContext, weightBits } from './block-context.ts';
import { scaled } from './elementwise.ts';
import type { Matrix } from './linear.ts';

/** Name of the embedding table in graphs. */
export const EMBEDDING_WEIGHT = 'model.embed_tokens.weight';

/** Bits of the embedding table and of the output matrix in q8 and q4 builds: see ADR 0005. */
export const TABLE_BITS = 8;

export interface Embedding {
  /** Shape: `[..., hidden]`, after the dimensions of the ids. */
  readonly value: string;
  /** The table, for a tied output matrix. */
  readonly table: Matrix;
}

/**
 * ```
 *   plain:     ids [...] -> Gather (table [vocab, hidden])                            -> [..., hidden]
 *   quantised: ids [...] -> codes and scales of blocks [..., blocks, block size] -> Reshape, Slice if padded
 * ```
 * and Mul by the scale of the embedding, if any.
 *
 * In `slots` graphs the table is memory-mapped, so only pages of used tokens become resident.
 */
export function embedding(context: BlockContext, ids: string): Embedding {
  const { config, weights } = context;
  const path = '/model/embed_tokens';
  const { value, table } = lookup(context, {
    path,
    name: EMBEDDING_WEIGHT,
    tensor: weights.embedding(),
    ids,
  });
  return { value: scaled(context, `${path}/scale`, value, config.embeddingScale), table };
}

/** Rows of a table, without a scale. */
export function lookup(
  context: BlockContext,
  {
    path,
    name,
    tensor,
    ids,
  }: {
    readonly path: string;
    readonly name: string;
    readonly tensor: CheckpointTensor;
    readonly ids: string;
  },
): Embedding {
  const { graph, precision, variant } = context;
  const width = tensor.shape[1]!;
  const { activation, blockSize, positionRank } = variant;
  if (weightBits(precision, [tensor]) === undefined) {
    declareFloats(graph, name, [tensor], activation);
    return { value: graph.op(`${path}/Gather`, 'Gather', [name, ids]), table: { kind: 'plain', name } };
  }
  const matrix = declareQuantised(graph, name, [tensor], {
    layout: activation === 'float32' ? 'rows' : 'blocks',
    bits: TABLE_BITS,
    blockSize,
    scaleType: activation,
  });
  const blocks =
    activation === 'float32'
      ? dequantiseBlocks(graph, path, matrix, ids)
      : gatherBlocks(graph, path, matrix, ids);
  const paddedWidth = blockCount(width, blockSize) * blockSize;
  // In Reshape, 0 copies the dimension of the input.
  const kept = Array.from({ length: positionRank }, () => 0);
  const joined = graph.constant(`${path}/blocks_joined`, 'int64', [...kept, paddedWidth]);
  let value = graph.op(`${path}/Reshape`, 'Reshape', [blocks, joined]);
  if (paddedWidth !== width) {
    // Removes the padding of rows to whole blocks.
    const bound = (part: string, values: number[]) =>
      graph.constant(`${path}/Slice/${part}`, 'int64', values);
    const bounds = [bound('start', [0]), bound('end', [width]), bound('axis', [positionRank])];
    value = graph.op(`${path}/Slice`, 'Slice', [value, ...bounds]);
  }
  return { value, table: { kind: 'quantised', matrix } };
}

/**
 * ```
 *   ids [...] -> Gather (codes) -> Cast -> Sub 128 -----------+
 *       +------> Gather (scales [..., blocks]) -> Unsqueeze --Mul   [..., blocks, block size]
 * ```
 * For float32 activations. On the CPU GatherBlockQuantized divides several times per element and takes four times as long.
 */
function dequantiseBlocks(graph: GraphRecorder, path: string, matrix: QuantisedMatrix, ids: string): string {
  const middle = graph.constant(`${path}/middle`, 'float32', [2 ** (TABLE_BITS - 1)]);
  const codes = graph.op(`${path}/codes/Gather`, 'Gather', [matrix.codes, ids]);
  const gathered = graph.op(`${path}/scales/Gather`, 'Gather', [matrix.scales, ids]);
  const lastAxis = graph.constant(`${path}/scales/last_axis`, 'int64', [-1]);
  const scales = graph.op(`${path}/scales/Unsqueeze`, 'Unsqueeze', [gathered, lastAxis]);
  const wide = graph.op(`${path}/codes/Cast`, 'Cast', [codes], {
    attributes: { to: int(ELEMENT_TYPES.float32.onnxType) },
  });
  const signed = graph.op(`${path}/codes/Sub`, 'Sub', [wide, middle]);
  return graph.op(`${path}/Mul`, 'Mul', [signed, scales]);
}

/** Dequantises with one operator, in the type of the scales. */
function gatherBlocks(graph: GraphRecorder, path: string, matrix: QuantisedMatrix, ids: string): string {
  const node = `${path}/GatherBlockQuantized`;
  return graph.op(node, 'GatherBlockQuantized', [matrix.codes, ids, matrix.scales], {
    domain: MICROSOFT,
    attributes: {
      bits: int(TABLE_BITS),
      block_size: int(matrix.blockSize),
      gather_axis: int(0),
      quantize_axis: int(2),
    },
  });
}
