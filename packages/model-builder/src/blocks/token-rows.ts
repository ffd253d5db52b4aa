// Flattens the tokens of a call into rows of one axis, for graphs with dynamic int8 quantisation: QuantizeLinear takes one
// axis of scales. Only attention needs the sequences.

import { int } from '@ortler/onnx';
import type { BlockContext } from './block-context.ts';
import { declareInt8MatMuls, declareRowZeroPoints } from './dynamic-int8-matmul.ts';
import { hasInt8Head } from './lm-head.ts';
import { SHARED_INPUT } from './variant.ts';

/** The context of a graph before its token stream is declared. */
export type GraphParts = Omit<BlockContext, 'rowZeroPoints'>;

const SEQUENCE_SHAPE = 'rows/sequence_shape';
const ROW_SHAPE = 'rows/row_shape';

export interface TokenStream {
  readonly context: BlockContext;
  /** Name of the token ids. Shape: `[1, rows]` with dynamic int8, else that of the variant. */
  readonly ids: string;
}

/** Declares the token ids in the shape of all blocks. Call it once, before the first block. */
export function tokenStream(parts: GraphParts): TokenStream {
  const context = { ...parts, rowZeroPoints: '' };
  if (parts.matmul === 'weight-only') return { context, ids: SHARED_INPUT.inputIds };
  const { graph } = parts;
  const minusOne = graph.constant('rows/minus_one', 'int64', [-1]);
  graph.constant(ROW_SHAPE, 'int64', [1, -1]);
  const shape = graph.op('rows/Shape', 'Shape', [SHARED_INPUT.inputIds]);
  graph.op('rows/Concat', 'Concat', [shape, minusOne], {
    attributes: { axis: int(0) },
    outputs: [SEQUENCE_SHAPE],
  });
  declareInt8MatMuls(context);
  const vector = graph.op('rows/Reshape_1', 'Reshape', [SHARED_INPUT.inputIds, minusOne]);
  const rowZeroPoints = declareRowZeroPoints(context, 'rows/zero_points', vector);
  const ids = graph.op('rows/Reshape_2', 'Reshape', [SHARED_INPUT.inputIds, ROW_SHAPE]);
  return { context: { ...context, rowZeroPoints }, ids };
}

/** `[1, rows, size]` to `[batch, length, size]`, without a copy. */
export function toSequences({ graph, matmul }: BlockContext, path: string, rows: string): string {
  return matmul === 'weight-only' ? rows : graph.op(`${path}/ToSequences`, 'Reshape', [rows, SEQUENCE_SHAPE]);
}

/** `[batch, length, size]` back to `[1, rows, size]`. */
export function toRows({ graph, matmul }: BlockContext, path: string, value: string, size: number): string {
  if (matmul === 'weight-only') return value;
  const shape = graph.constant(`${path}/row_shape`, 'int64', [1, -1, size]);
  return graph.op(`${path}/ToRows`, 'Reshape', [value, shape]);
}

/** The context of blocks after `selectRows`, with the rows of `logit_rows` only. Call it once. */
export function logitRowsContext(context: BlockContext): BlockContext {
  if (!hasInt8Head(context)) return context;
  if (context.matmul === 'weight-only') declareInt8MatMuls(context);
  const rowZeroPoints = declareRowZeroPoints(context, 'logit_rows/zero_points', SHARED_INPUT.logitRows);
  return { ...context, rowZeroPoints };
}
