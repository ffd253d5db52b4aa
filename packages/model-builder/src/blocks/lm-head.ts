// From the rows that were asked for to scores over the vocabulary.

import { SLOTS_INPUT, SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { aliasQuantised, declareFloats, declareQuantised } from '../weights/declare-weights.ts';
import { DYNAMIC_DIMS } from './attention.ts';
import type { BlockContext } from './block-context.ts';
import { EMBEDDING_WEIGHT, TABLE_BITS } from './embedding.ts';
import { integerProduct, quantiseRows } from './integer-product.ts';
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
 * A tied output matrix is the embedding table itself, the same bytes of the weights file; but in integer products it has
 * codes of its own, in the order that they need.
 */
export function lmHead(context: BlockContext, input: string, table: Matrix): void {
  const { graph, config } = context;
  if (context.products === 'int8') integerHead(context, input);
  else blockHead(context, input, table);
  graph.output(SLOTS_OUTPUT.logits, 'float32', [DYNAMIC_DIMS.rows, config.vocabSize]);
}

function blockHead(context: BlockContext, input: string, table: Matrix): void {
  const { config } = context;
  const matrix = config.tiedEmbeddings ? tiedMatrix(context, table) : separateMatrix(context);
  multiply(context, { path: '/lm_head', input, matrix, bias: '', output: SLOTS_OUTPUT.logits });
}

function integerHead(context: BlockContext, input: string): void {
  const { graph, checkpoint, config } = context;
  const weight = config.tiedEmbeddings ? EMBEDDING_WEIGHT : LM_HEAD_WEIGHT;
  const tensor = checkpoint.tensor(weight, [config.vocabSize, config.hiddenSize]);
  const path = '/lm_head';
  const { codes, scale } = quantiseRows(context, path, input);
  const product = integerProduct(context, { path, codes, name: LM_HEAD_WEIGHT, matrices: [tensor] });
  graph.op(`${path}/Mul`, 'Mul', [product, scale], { outputs: [SLOTS_OUTPUT.logits] });
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
