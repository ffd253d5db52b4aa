// Token ids to rows of the embedding table.

import { SLOTS_INPUT } from '@ortler/engine/graph-contract';
import { type BlockContext, floatWeights } from './block-context.ts';

/** Weight name of the embedding table in all three architectures. */
export const EMBEDDING_WEIGHT = 'model.embed_tokens.weight';

/**
 * ```
 *   input_ids [batch, length]
 *     |
 *   Gather (table [vocab, hidden])
 *     |
 *   [batch, length, hidden]
 * ```
 */
export function embedding({ graph, checkpoint, config }: BlockContext): string {
  const tensor = checkpoint.tensor(EMBEDDING_WEIGHT, [config.vocabSize, config.hiddenSize]);
  const table = floatWeights(graph, EMBEDDING_WEIGHT, [tensor]);
  return graph.op('/model/embed_tokens/Gather', 'Gather', [table, SLOTS_INPUT.inputIds]);
}
