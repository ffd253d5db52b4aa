// Queries, keys and values between their projection and the attention operator: norms before and after the rotation.

import { int } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights, HeadNorm } from '../hugging-face/decoder-weights.ts';
import type { LayerMatrix } from '../hugging-face/layer-matrices.ts';
import type { GraphContext } from './block-context.ts';
import { rmsNorm } from './norm.ts';
import type { Variant } from './variant.ts';

export interface QueryKeyValue {
  readonly query: string;
  readonly key: string;
  readonly value: string;
}

/** Matrices that a layer has of its own: no values where they are the keys, none of both where an earlier layer has them. */
export function projectedParts(
  { layers }: DecoderConfig,
  layer: number,
): readonly (LayerMatrix & ('query' | 'key' | 'value'))[] {
  const { kvSource, valuesAreKeys } = layers[layer]!;
  if (kvSource !== undefined) return ['query'];
  return valuesAreKeys ? ['query', 'key'] : ['query', 'key', 'value'];
}

/** Splits the product of a layer with keys of its own. */
export function splitQueryKeyValue(
  { graph, config }: GraphContext,
  layer: number,
  path: string,
  packed: string,
): QueryKeyValue {
  const { headSize, kvHeadCount, valuesAreKeys } = config.layers[layer]!;
  const keys = kvHeadCount * headSize;
  const split = `${path}/Split`;
  const sizes = [config.headCount * headSize, keys, ...(valuesAreKeys ? [] : [keys])];
  const lengths = graph.constant(`${split}/lengths`, 'int64', sizes);
  const outputs = sizes.map((_, i) => `${split}/output_${i}`);
  graph.op(split, 'Split', [packed, lengths], { attributes: { axis: int(-1) }, outputs });
  const [query, key, value = key!] = outputs as [string, string, string?];
  return { query, key, value };
}

export interface HeadNormContext extends GraphContext, Pick<Variant, 'positionRank'> {
  readonly weights: DecoderWeights;
}

/** Norms of queries or keys, over each head or over all. */
export function queryKeyNorm(context: HeadNormContext, layer: number, role: HeadNorm, value: string): string {
  const { config, weights } = context;
  if (config.queryKeyNorm === 'none') return value;
  const path = `/model/layers.${layer}/attn/${role === 'queryNorm' ? 'q' : 'k'}_norm`;
  const weight = weights.headNorm(layer, role);
  if (config.queryKeyNorm === 'width') return rmsNorm(context, path, value, weight);
  const heads = role === 'queryNorm' ? config.headCount : config.layers[layer]!.kvHeadCount;
  return overHeads(context, layer, { path, value, heads, weight });
}

/** The norm of values, which has no weights; nothing for models without. */
export function valueNorm(context: HeadNormContext, layer: number, value: string): string {
  if (!context.config.normsValues) return value;
  const { headSize, kvHeadCount } = context.config.layers[layer]!;
  const path = `/model/layers.${layer}/attn/v_norm`;
  const ones: CheckpointTensor = {
    name: `${path}/ones`,
    shape: [headSize],
    readFloats: (_, target) => Promise.resolve(void target.fill(1)),
  };
  return overHeads(context, layer, { path, value, heads: kvHeadCount, weight: ones });
}

/**
 * ```
 *   [..., heads * headSize] -> Reshape [..., heads, headSize] -> norm -> Reshape back
 * ```
 */
function overHeads(
  context: HeadNormContext,
  layer: number,
  {
    path,
    value,
    heads,
    weight,
  }: {
    readonly path: string;
    readonly value: string;
    readonly heads: number;
    readonly weight: CheckpointTensor;
  },
): string {
  const { graph, config, positionRank } = context;
  const { headSize } = config.layers[layer]!;
  // In Reshape, 0 copies the dimension of the input.
  const kept = Array.from({ length: positionRank }, () => 0);
  const apart = graph.constant(`${path}/heads_apart`, 'int64', [...kept, heads, headSize]);
  const joined = graph.constant(`${path}/heads_joined`, 'int64', [...kept, heads * headSize]);
  const split = graph.op(`${path}/Reshape_1`, 'Reshape', [value, apart]);
  const normed = rmsNorm(context, path, split, weight);
  return graph.op(`${path}/Reshape_2`, 'Reshape', [normed, joined]);
}
