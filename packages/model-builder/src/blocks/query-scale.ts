// Queries that grow with their position, which keeps attention sharp in contexts longer than in pretraining.
// Source: transformers, `get_llama_4_attn_scale` of models/ministral3/modeling_ministral3.py

import { ELEMENT_TYPES, int } from '@ortler/onnx';
import type { GraphContext } from './block-context.ts';
import { POSITIONS } from './positions.ts';

const FACTORS = '/model/query_scale/Unsqueeze/output_0';

/**
 * ```
 *   factors = 1 + growth * Log(1 + Floor(positions / period))        [batch, length, 1]
 * ```
 * Once for all layers, before the first and behind `declarePositions`; nothing for models without.
 */
export function declareQueryScale({ graph, config }: GraphContext): void {
  if (config.queryScale === undefined) return;
  const { growth, period } = config.queryScale;
  const path = '/model/query_scale';
  const float = (name: string, value: number) => graph.constant(`${path}/${name}`, 'float32', [value]);
  const op = (name: string, inputs: readonly string[], suffix = '') =>
    graph.op(`${path}/${name}${suffix}`, name, inputs);
  const positions = graph.op(`${path}/Cast`, 'Cast', [POSITIONS], {
    attributes: { to: int(ELEMENT_TYPES.float32.onnxType) },
  });
  const periods = op('Floor', [op('Div', [positions, float('period', period)])]);
  const logarithm = op('Log', [op('Add', [periods, float('one', 1)], '_1')]);
  const growths = op('Mul', [logarithm, float('growth', growth)]);
  const factors = op('Add', [growths, `${path}/one`], '_2');
  op('Unsqueeze', [factors, graph.constant(`${path}/two`, 'int64', [2])]);
}

/** Queries `[batch, length, heads * headSize]` by the factors; the rotation behind it changes nothing in that. */
export function scaleQueries({ graph, config }: GraphContext, path: string, query: string): string {
  if (config.queryScale === undefined) return query;
  return graph.op(`${path}/query_scale/Mul`, 'Mul', [query, FACTORS]);
}
