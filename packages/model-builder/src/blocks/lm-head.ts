// From the rows that were asked for to scores over the vocabulary.

import { SLOTS_INPUT, SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { DYNAMIC_DIMS } from './attention.ts';
import type { BlockContext } from './block-context.ts';
import { EMBEDDING_WEIGHT } from './embedding.ts';
import { linear } from './linear.ts';

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
 */
export function lmHead(context: BlockContext, input: string): void {
  const { graph, checkpoint, config } = context;
  const weight = config.tiedEmbeddings ? EMBEDDING_WEIGHT : LM_HEAD_WEIGHT;
  linear(context, {
    path: '/lm_head',
    input,
    matrices: [checkpoint.tensor(weight, [config.vocabSize, config.hiddenSize])],
    biases: [],
    output: SLOTS_OUTPUT.logits,
  });
  graph.output(SLOTS_OUTPUT.logits, 'float32', [DYNAMIC_DIMS.rows, config.vocabSize]);
}
