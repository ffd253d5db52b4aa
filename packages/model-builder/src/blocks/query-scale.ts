// Queries that grow with their position, which keeps attention sharp in contexts longer than in pretraining.
// Source: transformers, `get_llama_4_attn_scale` of models/ministral3/modeling_ministral3.py

import { SLOTS_INPUT } from '@ortler/engine/graph-contract';
import { ELEMENT_TYPES, int } from '@ortler/onnx';
import type { GraphContext } from './block-context.ts';

const FACTORS = '/model/query_scale/Unsqueeze_2/output_0';

/**
 * ```
 *   first = last_positions - length + 1                              [batch, 1]
 *   positions = first + Range(0, length)                             [batch, length]
 *   factors = 1 + growth * Log(1 + Floor(positions / period))        [batch, length, 1]
 * ```
 * Once for all layers, before the first. For graphs whose sequences are rows; nothing for models without.
 */
export function declareQueryScale({ graph, config }: GraphContext): void {
  if (config.queryScale === undefined) return;
  const { growth, period } = config.queryScale;
  const path = '/model/query_scale';
  const integer = (name: string, value: number) => graph.constant(`${path}/${name}`, 'int64', [value]);
  const float = (name: string, value: number) => graph.constant(`${path}/${name}`, 'float32', [value]);
  const op = (name: string, inputs: readonly string[], suffix = '') =>
    graph.op(`${path}/${name}${suffix}`, name, inputs);
  const cast = (input: string, type: 'int64' | 'float32', suffix: string) =>
    graph.op(`${path}/Cast${suffix}`, 'Cast', [input], {
      attributes: { to: int(ELEMENT_TYPES[type].onnxType) },
    });
  const [one, zero] = [integer('one', 1), integer('zero', 0)];
  const shape = op('Shape', [SLOTS_INPUT.inputIds]);
  const length = op('Gather', [shape, one]);
  const scalar = (value: string, name: string) => op('Squeeze', [value, zero], name);
  const offsets = op('Range', [scalar(zero, '_0'), scalar(length, '_1'), scalar(one, '_2')]);
  const last = cast(SLOTS_INPUT.lastPositions, 'int64', '_1');
  const first = op('Add', [op('Sub', [last, length]), one], '_1');
  const positions = op('Add', [op('Unsqueeze', [first, one], '_1'), offsets], '_2');
  const periods = op('Floor', [op('Div', [cast(positions, 'float32', '_2'), float('period', period)])]);
  const logarithm = op('Log', [op('Add', [periods, float('one_float', 1)], '_3')]);
  const growths = op('Mul', [logarithm, float('growth', growth)]);
  const factors = op('Add', [growths, `${path}/one_float`], '_4');
  op('Unsqueeze', [factors, integer('two', 2)], '_2');
}

/** Queries `[batch, length, heads * headSize]` by the factors; the rotation behind it changes nothing in that. */
export function scaleQueries({ graph, config }: GraphContext, path: string, query: string): string {
  if (config.queryScale === undefined) return query;
  return graph.op(`${path}/query_scale/Mul`, 'Mul', [query, FACTORS]);
}
