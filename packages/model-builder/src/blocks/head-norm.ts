// Norms of queries and keys.

import { int } from '@ortler/onnx';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import type { GraphContext } from './block-context.ts';
import { rmsNorm } from './norm.ts';
import type { Variant } from './variant.ts';

/** Queries, keys and values, one after the other. Returns the names of each. */
export function splitQueryKeyValue(
  { graph, config }: GraphContext,
  path: string,
  packed: string,
): readonly [query: string, key: string, value: string] {
  const { headCount, kvHeadCount, headSize } = config;
  const split = `${path}/Split`;
  const sizes = [headCount * headSize, kvHeadCount * headSize, kvHeadCount * headSize];
  const lengths = graph.constant(`${split}/lengths`, 'int64', sizes);
  const [query, key, value] = [0, 1, 2].map(i => `${split}/output_${i}`) as [string, string, string];
  graph.op(split, 'Split', [packed, lengths], {
    attributes: { axis: int(-1) },
    outputs: [query, key, value],
  });
  return [query, key, value];
}

export interface HeadNormContext extends GraphContext, Pick<Variant, 'positionRank'> {
  readonly weights: DecoderWeights;
}

export function queryKeyNorms(
  context: HeadNormContext,
  layer: number,
  { query, key }: { readonly query: string; readonly key: string },
): readonly [query: string, key: string] {
  const { headCount, kvHeadCount, queryKeyNorm } = context.config;
  if (queryKeyNorm === 'none') return [query, key];
  return [
    headNorm(context, layer, { role: 'queryNorm', value: query, headCount }),
    headNorm(context, layer, { role: 'keyNorm', value: key, headCount: kvHeadCount }),
  ];
}

/**
 * ```
 *   over heads: [..., heads * headSize] -> Reshape [..., heads, headSize] -> norm -> Reshape back
 *   over all:   [..., heads * headSize] -> norm
 * ```
 */
function headNorm(
  context: HeadNormContext,
  layer: number,
  {
    role,
    value,
    headCount,
  }: { readonly role: 'queryNorm' | 'keyNorm'; readonly value: string; readonly headCount: number },
): string {
  const { graph, config, weights, positionRank } = context;
  const path = `/model/layers.${layer}/attn/${role === 'queryNorm' ? 'q' : 'k'}_norm`;
  const weight = weights.headNorm(layer, role);
  if (config.queryKeyNorm === 'width') return rmsNorm(context, path, value, weight);
  // In Reshape, 0 copies the dimension of the input.
  const kept = Array.from({ length: positionRank }, () => 0);
  const apart = graph.constant(`${path}/heads_apart`, 'int64', [...kept, headCount, config.headSize]);
  const joined = graph.constant(`${path}/heads_joined`, 'int64', [...kept, headCount * config.headSize]);
  const heads = graph.op(`${path}/Reshape_1`, 'Reshape', [value, apart]);
  const normed = rmsNorm(context, path, heads, weight);
  return graph.op(`${path}/Reshape_2`, 'Reshape', [normed, joined]);
}
