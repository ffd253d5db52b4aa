// Self-attention of one layer by the operators of the CPU kernels.

import {
  cacheParts,
  cacheRowLength,
  type KvType,
  pastName,
  presentName,
  SLOTS_INPUT,
} from '@ortler/engine/graph-contract';
import { KERNELS_DOMAIN } from '@ortler/kernels';
import { type AttributeValue, float, int } from '@ortler/onnx';
import { operatorLayer } from '../blocks/attention.ts';
import { weightName } from '../blocks/block-context.ts';
import { projectedParts, queryKeyNorm, splitQueryKeyValue, valueNorm } from '../blocks/head-norm.ts';
import { scaleQueries } from '../blocks/query-scale.ts';
import { rotaryTables } from '../blocks/rotary.ts';
import { rotateHeads } from '../blocks/rotate-heads.ts';
import { DYNAMIC_DIMS } from '../blocks/variant.ts';
import { assertInvariant } from '../errors.ts';
import type { HeadNorm } from '../hugging-face/decoder-weights.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import { layerMatrices } from './decoder-matrices.ts';
import {
  biases,
  KERNELS_VARIANT,
  type KernelsContext,
  multiply,
  type NormedInput,
  tiles,
} from './kernels-context.ts';

const OPERATORS: Readonly<Record<KvType, string>> = {
  float32: 'Attention',
  float16: 'AttentionFloat16',
  int8: 'AttentionInt8',
};

/**
 * ```
 *   norm, q k v, bias        Product                       [batch, length, (heads + 2 kvHeads) * headSize]
 *   norms over all heads, or rotation and norms after it
 *                            only where the model has them
 *   head norms, rotation, cache, softmax
 *                            Attention <- caches, lengths  [batch, length, heads * headSize]
 * ```
 * A layer that attends to the keys and values of an earlier one has queries only, and reads the cache of that layer.
 */
export function attention(context: KernelsContext, layer: number, input: NormedInput): string {
  return attend(context, layer, queryKeyValue(context, layer, `/model/layers.${layer}/attn`, input));
}

/** The operator, on queries, keys and values one after the other; of latent attention there are no values. */
export function attend(context: KernelsContext, layer: number, qkv: string): string {
  const { graph, config, kvType } = context;
  const path = `/model/layers.${layer}/attn`;
  const { rope, window, kvHeadCount, headSize, kvSource } = operatorLayer(config, layer);
  const tables = rope === undefined ? undefined : rotaryTables(rope);
  const rowLength = cacheRowLength({ variant: 'kernels', kvType, headSize });
  // Layers with a window may have a cache of another length.
  const capacity = window === undefined ? DYNAMIC_DIMS.capacity : `capacity_of_window_${window}`;
  const dims = [DYNAMIC_DIMS.batch, kvHeadCount, capacity, rowLength];
  const parts = cacheParts({ keysOnly: config.latent !== undefined });
  const caches = parts.map(part =>
    kvSource === undefined ? graph.input(pastName(layer, part), kvType, dims) : presentName(kvSource, part),
  );
  const node = `${path}/Attention`;
  const own = kvSource === undefined ? parts : [];
  const inputs = [
    qkv,
    caches[0]!,
    // With `keys_only` the same.
    caches.at(-1)!,
    SLOTS_INPUT.lastPositions,
    tables?.cosine ?? '',
    tables?.sine ?? '',
    ...headNorms(context, layer, path),
    ...sinks(context, layer, path),
  ];
  while (inputs.at(-1) === '') inputs.pop();
  const attended = graph.op(node, OPERATORS[kvType], inputs, {
    domain: KERNELS_DOMAIN,
    attributes: settings(context, layer),
    outputs: [`${node}/output_0`, ...own.map(part => presentName(layer, part))],
  });
  for (const part of own) graph.output(presentName(layer, part), kvType, dims);
  return attended;
}

/** Queries, keys and values, one after the other; queries alone for a layer that attends to those of another. */
function queryKeyValue(context: KernelsContext, layer: number, path: string, input: NormedInput): string {
  const { config } = context;
  const parts = projectedParts(config, layer);
  const matrices = layerMatrices(config, layer);
  const packed = multiply(context, `${path}/qkv_proj`, {
    ...input,
    matrices: parts.map(part => tiles(context, matrices[part]!)),
    bias: biases(context, `${path}/qkv_proj`, layer, parts),
  });
  const joined = (...values: readonly string[]) =>
    context.graph.op(`${path}/Concat`, 'Concat', values, { attributes: { axis: int(-1) } });
  const { kvSource, valuesAreKeys } = config.layers[layer]!;
  // What models of the kind do to queries, the operator does.
  assertInvariant(
    kvSource === undefined || (config.queryKeyNorm === 'head' && config.queryScale === undefined),
    'queries over the keys of another layer have norms over each head',
  );
  if (kvSource !== undefined) return packed;
  assertInvariant(
    !config.gatesAttention || config.queryKeyNorm === 'head',
    'gated queries have norms over each head',
  );
  // Norms over each head before the rotation are the operator's.
  const isOperators = config.queryKeyNorm === 'none' || config.queryKeyNorm === 'head';
  if (isOperators && config.queryScale === undefined && !config.normsValues && !valuesAreKeys) return packed;
  // They would undo the scale.
  assertInvariant(
    config.queryKeyNorm !== 'head' || config.queryScale === undefined,
    'queries have norms over each head or grow with their position',
  );
  const norms = { ...context, ...KERNELS_VARIANT };
  const split = splitQueryKeyValue(context, layer, `${path}/qkv_proj`, packed);
  const rotated =
    config.queryKeyNorm === 'rotated-head'
      ? rotateHeads({ ...context, variant: KERNELS_VARIANT }, layer, path, split)
      : split;
  const query = isOperators ? split.query : queryKeyNorm(norms, layer, 'queryNorm', rotated.query);
  const key = isOperators ? split.key : queryKeyNorm(norms, layer, 'keyNorm', rotated.key);
  const value = valueNorm(norms, layer, split.value);
  return joined(scaleQueries(context, path, query), key, value);
}

/** Weights of the norms that the operator computes. */
function headNorms({ graph, config, weights }: KernelsContext, layer: number, path: string): string[] {
  if (config.queryKeyNorm !== 'head') return [];
  const { kvSource } = config.layers[layer]!;
  const declare = (role: HeadNorm, name: string) =>
    declareFloats(graph, weightName(`${path}/${name}`, 'weight'), [weights.headNorm(layer, role)], 'float32');
  const queryNorm = declare('queryNorm', 'q_norm');
  return kvSource === undefined ? [queryNorm, declare('keyNorm', 'k_norm')] : [queryNorm];
}

/** In its place after norms of queries and keys, which have their places where there are none. */
function sinks({ graph, config, weights }: KernelsContext, layer: number, path: string): string[] {
  if (!config.hasSinks) return [];
  assertInvariant(config.queryKeyNorm === 'none', 'a model with sinks has no norms of queries and keys');
  return [
    '',
    '',
    declareFloats(graph, weightName(`${path}/sinks`, 'weight'), [weights.sinks(layer)], 'float32'),
  ];
}

function settings({ config }: KernelsContext, layer: number): Record<string, AttributeValue> {
  const { headCount, norm, attentionScale, attentionSoftcap } = config;
  const { rope, window, kvHeadCount, headSize, kvSource } = operatorLayer(config, layer);
  const scale = attentionScale ?? headSize ** -0.5;
  return {
    heads: int(headCount),
    kv_heads: int(kvHeadCount),
    head_size: int(headSize),
    ...(config.gatesAttention ? { gated: int(1) } : {}),
    ...(config.queryKeyNorm === 'head' ? { epsilon: float(norm.epsilon) } : {}),
    ...(rope !== undefined && config.ropes[rope]!.isInterleaved ? { interleaved: int(1) } : {}),
    ...(window === undefined ? {} : { window: int(window) }),
    ...(kvSource === undefined ? {} : { reads_only: int(1) }),
    ...(config.latent === undefined ? {} : { keys_only: int(1) }),
    ...(scale === headSize ** -0.5 ? {} : { scale: float(scale) }),
    ...(attentionSoftcap === undefined ? {} : { softcap: float(attentionSoftcap) }),
  };
}
