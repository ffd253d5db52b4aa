// Token ids to rows of the embedding table.

import { int, MICROSOFT } from '../onnx/graph.ts';
import { declareFloats, declareQuantised } from '../weights/declare-weights.ts';
import { blockCount, QUANTISATION_BLOCK } from '../weights/quantise.ts';
import type { BlockContext } from './block-context.ts';
import type { Matrix } from './linear.ts';

/** Weight name of the embedding table in all three architectures. */
export const EMBEDDING_WEIGHT = 'model.embed_tokens.weight';

/** Bits of the embedding table and of the output matrix in both quantised precisions: see ADR 0005. */
export const TABLE_BITS = 8;

export interface Embedding {
  /** Shape: `[batch, length, hidden]`. */
  readonly value: string;
  /** The table, for an output matrix that is tied to it; quantised tables have the layout of a gather. */
  readonly table: Matrix;
}

/**
 * ```
 *   f32:    ids [batch, length]       -> Gather (table [vocab, hidden])           -> [batch, length, hidden]
 *   q8, q4: ids [batch, length]       -> GatherBlockQuantized (8-bit codes, scales) -> [batch, length, hidden]
 * ```
 * The runtime maps the table from the file, so only pages of tokens that occur become resident.
 */
export function embedding({ graph, checkpoint, config, precision }: BlockContext, ids: string): Embedding {
  const path = '/model/embed_tokens';
  const tensor = checkpoint.tensor(EMBEDDING_WEIGHT, [config.vocabSize, config.hiddenSize]);
  if (precision === 'f32') {
    const name = declareFloats(graph, EMBEDDING_WEIGHT, [tensor]);
    const value = graph.op(`${path}/Gather`, 'Gather', [name, ids]);
    return { value, table: { kind: 'float32', name } };
  }
  const matrix = declareQuantised(graph, EMBEDDING_WEIGHT, [tensor], TABLE_BITS, 'gather');
  const node = `${path}/GatherBlockQuantized`;
  let value = graph.op(node, 'GatherBlockQuantized', [matrix.codes, ids, matrix.scales], {
    domain: MICROSOFT,
    attributes: {
      bits: int(TABLE_BITS),
      block_size: int(QUANTISATION_BLOCK),
      gather_axis: int(0),
      quantize_axis: int(1),
    },
  });
  if (blockCount(config.hiddenSize) * QUANTISATION_BLOCK !== config.hiddenSize) {
    // Rows are padded to whole blocks; the padding is cut off again.
    const bound = (name: string, values: number[]) =>
      graph.constant(`${path}/Slice/${name}`, 'int64', values);
    const bounds = [bound('start', [0]), bound('end', [config.hiddenSize]), bound('axis', [2])];
    value = graph.op(`${path}/Slice`, 'Slice', [value, ...bounds]);
  }
  return { value, table: { kind: 'quantised', matrix } };
}
