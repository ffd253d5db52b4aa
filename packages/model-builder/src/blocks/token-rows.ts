// The tokens of a call as rows along one axis, for graphs with integer products: there the operator that rounds activations
// takes one axis of scales. Attention alone needs to know which token is of which sequence.

import { int } from '@ortler/onnx';
import type { BlockContext } from './block-context.ts';
import { declareIntegerProducts, declareRowZeroPoints } from './integer-product.ts';
import { hasIntegerHead } from './lm-head.ts';
import { SHARED_INPUT } from './variant.ts';

/** What the blocks are given besides what the recorder of a graph has. */
export type GraphParts = Omit<BlockContext, 'rowZeroPoints'>;

const SEQUENCE_SHAPE = 'rows/sequence_shape';
const ROW_SHAPE = 'rows/row_shape';

export interface TokenStream {
  readonly context: BlockContext;
  /** Name of the token ids. Shape: `[1, rows]` with integer products, else as the variant has them. */
  readonly ids: string;
}

/** The ids in the shape that all blocks work in. To be called once, before the first block. */
export function tokenStream(parts: GraphParts): TokenStream {
  const context = { ...parts, rowZeroPoints: '' };
  if (parts.products === 'blocks') return { context, ids: SHARED_INPUT.inputIds };
  const { graph } = parts;
  const minusOne = graph.constant('rows/minus_one', 'int64', [-1]);
  graph.constant(ROW_SHAPE, 'int64', [1, -1]);
  const shape = graph.op('rows/Shape', 'Shape', [SHARED_INPUT.inputIds]);
  graph.op('rows/Concat', 'Concat', [shape, minusOne], {
    attributes: { axis: int(0) },
    outputs: [SEQUENCE_SHAPE],
  });
  declareIntegerProducts(context);
  const vector = graph.op('rows/Reshape_1', 'Reshape', [SHARED_INPUT.inputIds, minusOne]);
  const rowZeroPoints = declareRowZeroPoints(context, 'rows/zero_points', vector);
  const ids = graph.op('rows/Reshape_2', 'Reshape', [SHARED_INPUT.inputIds, ROW_SHAPE]);
  return { context: { ...context, rowZeroPoints }, ids };
}

/** `[1, rows, size]` to `[batch, length, size]`; nothing moves in memory. */
export function toSequences({ graph, products }: BlockContext, path: string, rows: string): string {
  return products === 'blocks' ? rows : graph.op(`${path}/ToSequences`, 'Reshape', [rows, SEQUENCE_SHAPE]);
}

/** `[batch, length, size]` back to `[1, rows, size]`. */
export function toRows({ graph, products }: BlockContext, path: string, value: string, size: number): string {
  if (products === 'blocks') return value;
  const shape = graph.constant(`${path}/row_shape`, 'int64', [1, -1, size]);
  return graph.op(`${path}/ToRows`, 'Reshape', [value, shape]);
}

/** The context of blocks that only see the rows of `logit_rows`. To be called once. */
export function logitRowsContext(context: BlockContext): BlockContext {
  if (!hasIntegerHead(context)) return context;
  if (context.products === 'blocks') declareIntegerProducts(context);
  const rowZeroPoints = declareRowZeroPoints(context, 'logit_rows/zero_points', SHARED_INPUT.logitRows);
  return { ...context, rowZeroPoints };
}
