// Token ids to rows of the embedding table.

import { int, MICROSOFT } from '../onnx/graph.ts';
import { declareFloats, declareQuantised, type QuantisedLayout } from '../weights/declare-weights.ts';
import { blockCount, QUANTISATION_BLOCK } from '../weights/quantise.ts';
import { type BlockContext, weightBits } from './block-context.ts';
import type { Matrix } from './linear.ts';
import type { Variant } from './variant.ts';

/** Weight name of the embedding table in all three architectures. */
export const EMBEDDING_WEIGHT = 'model.embed_tokens.weight';

/** Bits of the embedding table and of the output matrix in both quantised precisions: see ADR 0005. */
export const TABLE_BITS = 8;

export interface Embedding {
  /** Shape: `[..., hidden]`, after the dimensions of the ids. */
  readonly value: string;
  /** The table, for an output matrix that is tied to it; quantised tables have the layout of `tableLayout`. */
  readonly table: Matrix;
}

/**
 * In `slots` the runtime maps the table from the file, and a tied output matrix is the same bytes under another name.
 * On a device each name has memory of its own, so there both operators read one table, of whole blocks.
 */
export function tableLayout(variant: Variant): QuantisedLayout {
  return variant.name === 'slots' ? 'gather' : 'blocks';
}

/**
 * ```
 *   plain:     ids [...] -> Gather (table [vocab, hidden])             -> [..., hidden]
 *   quantised: ids [...] -> GatherBlockQuantized (8-bit codes, scales) -> [..., hidden], cut off if padded
 *   on blocks: ids [...] -> GatherBlockQuantized [..., blocks, 64] -> Reshape
 * ```
 * In `slots` the table is mapped from the file, so only pages of tokens that occur become resident.
 */
export function embedding(
  { graph, checkpoint, config, precision, variant }: BlockContext,
  ids: string,
): Embedding {
  const path = '/model/embed_tokens';
  const tensor = checkpoint.tensor(EMBEDDING_WEIGHT, [config.vocabSize, config.hiddenSize]);
  const { activation, positionRank } = variant;
  if (weightBits(precision) === undefined) {
    const name = declareFloats(graph, EMBEDDING_WEIGHT, [tensor], activation);
    const value = graph.op(`${path}/Gather`, 'Gather', [name, ids]);
    return { value, table: { kind: 'plain', name } };
  }
  const layout = tableLayout(variant);
  const matrix = declareQuantised(graph, EMBEDDING_WEIGHT, [tensor], {
    ...{ layout, bits: TABLE_BITS },
    scaleType: activation,
  });
  const node = `${path}/GatherBlockQuantized`;
  let value = graph.op(node, 'GatherBlockQuantized', [matrix.codes, ids, matrix.scales], {
    domain: MICROSOFT,
    attributes: {
      bits: int(TABLE_BITS),
      block_size: int(QUANTISATION_BLOCK),
      gather_axis: int(0),
      quantize_axis: int(layout === 'blocks' ? 2 : 1),
    },
  });
  const paddedWidth = blockCount(config.hiddenSize) * QUANTISATION_BLOCK;
  if (layout === 'blocks') {
    // Zero copies the input's dimension.
    const kept = Array.from({ length: positionRank }, () => 0);
    const joined = graph.constant(`${path}/blocks_joined`, 'int64', [...kept, paddedWidth]);
    value = graph.op(`${path}/Reshape`, 'Reshape', [value, joined]);
  }
  if (paddedWidth !== config.hiddenSize) {
    // Rows are padded to whole blocks; the padding is cut off again.
    const bound = (name: string, values: number[]) =>
      graph.constant(`${path}/Slice/${name}`, 'int64', values);
    const bounds = [bound('start', [0]), bound('end', [config.hiddenSize]), bound('axis', [positionRank])];
    value = graph.op(`${path}/Slice`, 'Slice', [value, ...bounds]);
  }
  return { value, table: { kind: 'quantised', matrix } };
}
