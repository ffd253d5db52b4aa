// From the rows that were asked for to scores over the vocabulary.

import { SLOTS_INPUT, SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { aliasQuantised, declareFloats, declareQuantised } from '../weights/declare-weights.ts';
import { DYNAMIC_DIMS } from './attention.ts';
import type { BlockContext } from './block-context.ts';
import { TABLE_BITS } from './embedding.ts';
import { type Matrix, multiply } from './linear.ts';

/** Weight name of the output matrix when it is not the embedding table. */
export const LM_HEAD_WEIGHT = 'lm_head.weight';

/**
 * Keeps the positions named by `logit_rows`.
 * ```
 *   input [batch, length, size] -> Reshape [batch * length, size] -> Gather (logit_rows) -> [rowCount, size]
 * ```
 */
export function selectRows({ graph }: BlockContext, path: string, input: string, size: number): string {
  const shape = graph.constant(`${path}/rows_shape`, 'int64', [-1, size]);
  const rows = graph.op(`${path}/Reshape`, 'Reshape', [input, shape]);
  return graph.op(`${path}/Gather`, 'Gather', [rows, SLOTS_INPUT.logitRows]);
}

/**
 * ```
 *   input [rowCount, hidden] -> MatMul -> logits [rowCount, vocab]
 * ```
 * A tied output matrix is the embedding table itself: the same bytes of the weights file.
 */
export function lmHead(context: BlockContext, input: string, table: Matrix): void {
  const { graph, config } = context;
  const matrix = config.tiedEmbeddings ? tiedMatrix(context, table) : separateMatrix(context);
  multiply(context, { path: '/lm_head', input, matrix, bias: '', output: SLOTS_OUTPUT.logits });
  graph.output(SLOTS_OUTPUT.logits, 'float32', [DYNAMIC_DIMS.rows, config.vocabSize]);
}

function tiedMatrix({ graph }: BlockContext, table: Matrix): Matrix {
  if (table.kind === 'float32') return table;
  return { kind: 'quantised', matrix: aliasQuantised(graph, LM_HEAD_WEIGHT, table.matrix, 'matmul') };
}

function separateMatrix({ graph, checkpoint, config, precision }: BlockContext): Matrix {
  const tensor = checkpoint.tensor(LM_HEAD_WEIGHT, [config.vocabSize, config.hiddenSize]);
  if (precision === 'f32') {
    return { kind: 'float32', name: declareFloats(graph, LM_HEAD_WEIGHT, [tensor]) };
  }
  const matrix = declareQuantised(graph, LM_HEAD_WEIGHT, [tensor], TABLE_BITS, 'matmul');
  return { kind: 'quantised', matrix };
}
