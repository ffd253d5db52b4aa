// Queries that grow with their position, which keeps attention sharp in contexts longer than in pretraining.
// Source: transformers, `get_llama_4_attn_scale` of models/ministral3/modeling_ministral3.py

import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { GraphContext } from './block-context.ts';
import { POSITIONS } from './positions.ts';
import { joinSequence } from './sequence-dimension.ts';
import type { Variant } from './variant.ts';

const FACTORS = '/model/query_scale/Unsqueeze/output_0';

interface QueryScaleContext extends GraphContext {
  readonly variant: Pick<Variant, 'positionRank' | 'splitsSequence'>;
}

/**
 * ```
 *   factors = table[positions / period]         [..., 1], in front of it the dimensions of a value before the last
 * ```
 * Once for all layers, before the first and after `declarePositions`; nothing for models without. A table, because ONNX Runtime's `Log`
 * rounds the last elements of a tensor in another way than those before, so that a factor would depend on the other tokens of a call.
 */
export function declareQueryScale(context: QueryScaleContext): void {
  const { graph, config, activation, variant } = context;
  if (config.queryScale === undefined) return;
  const path = '/model/query_scale';
  const table = graph.constant(
    `${path}/table`,
    activation,
    queryFactors(config.queryScale, config.contextLength),
  );
  const period = graph.constant(`${path}/period`, 'int64', [config.queryScale.period]);
  const index = graph.op(`${path}/Div`, 'Div', [POSITIONS, period]);
  const rows = joinSequence(context, `${path}/rows`, index);
  const factors = graph.op(`${path}/Gather`, 'Gather', [table, rows]);
  const last = graph.constant(`${path}/last_axis`, 'int64', [variant.positionRank]);
  graph.op(`${path}/Unsqueeze`, 'Unsqueeze', [factors, last]);
}

/** Factors of the queries at the first positions of each period. */
function queryFactors(
  { growth, period }: NonNullable<DecoderConfig['queryScale']>,
  contextLength: number,
): number[] {
  return Array.from({ length: Math.ceil(contextLength / period) }, (_, index) =>
    Math.fround(1 + growth * Math.log1p(index)),
  );
}

/** Queries `[..., heads * headSize]` by the factors; the rotation after it changes nothing in that. */
export function scaleQueries({ graph, config }: GraphContext, path: string, query: string): string {
  if (config.queryScale === undefined) return query;
  return graph.op(`${path}/query_scale/Mul`, 'Mul', [query, FACTORS]);
}
