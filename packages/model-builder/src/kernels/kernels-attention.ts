// Self-attention of one layer by the operators of the CPU kernels.

import {
  cacheRowLength,
  KV_PARTS,
  type KvType,
  pastName,
  presentName,
  SLOTS_INPUT,
} from '@ortler/engine/graph-contract';
import { KERNELS_DOMAIN } from '@ortler/kernels';
import { type AttributeValue, float, int } from '@ortler/onnx';
import { operatorLayer } from '../blocks/attention.ts';
import { weightName } from '../blocks/block-context.ts';
import { queryKeyNorms, splitQueryKeyValue } from '../blocks/head-norm.ts';
import { scaleQueries } from '../blocks/query-scale.ts';
import { rotaryTables } from '../blocks/rotary.ts';
import { rotateHeads } from '../blocks/rotate-heads.ts';
import { DYNAMIC_DIMS } from '../blocks/variant.ts';
import { assertInvariant } from '../errors.ts';
import type { HeadNorm } from '../hugging-face/decoder-weights.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import { layerMatrices } from './decoder-matrices.ts';
import { biases, type KernelsContext, multiply, type NormedInput, tiles } from './kernels-context.ts';

const OPERATORS: Readonly<Record<KvType, string>> = {
  float32: 'Attention',
  float16: 'AttentionFloat16',
  int8: 'AttentionInt8',
};

/**
 * ```
 *   norm, q k v, bias        Product                       [batch, length, (heads + 2 kvHeads) * headSize]
 *   norms over all heads, or rotation and norms behind it
 *                            only where the model has them
 *   head norms, rotation, cache, softmax
 *                            Attention <- caches, lengths  [batch, length, heads * headSize]
 * ```
 */
export function attention(context: KernelsContext, layer: number, input: NormedInput): string {
  const { graph, config, kvType } = context;
  const { kvHeadCount, headSize } = config;
  const path = `/model/layers.${layer}/attn`;
  const { rope } = operatorLayer(config, layer);
  const tables = rope === undefined ? undefined : rotaryTables(rope);
  const rowLength = cacheRowLength({ variant: 'kernels', kvType, headSize });
  const dims = [DYNAMIC_DIMS.batch, kvHeadCount, DYNAMIC_DIMS.capacity, rowLength];
  const qkv = queryKeyValue(context, layer, path, input);
  const caches = KV_PARTS.map(part => graph.input(pastName(layer, part), kvType, dims));
  const node = `${path}/Attention`;
  const inputs = [
    qkv,
    ...caches,
    SLOTS_INPUT.lastPositions,
    tables?.cosine ?? '',
    tables?.sine ?? '',
    ...headNorms(context, layer, path),
  ];
  while (inputs.at(-1) === '') inputs.pop();
  const attended = graph.op(node, OPERATORS[kvType], inputs, {
    domain: KERNELS_DOMAIN,
    attributes: settings(context, layer),
    outputs: [`${node}/output_0`, ...KV_PARTS.map(part => presentName(layer, part))],
  });
  for (const part of KV_PARTS) graph.output(presentName(layer, part), kvType, dims);
  return attended;
}

function queryKeyValue(context: KernelsContext, layer: number, path: string, input: NormedInput): string {
  const parts = ['query', 'key', 'value'] as const;
  const matrices = layerMatrices(context.config, layer);
  const packed = multiply(context, `${path}/qkv_proj`, {
    ...input,
    matrices: parts.map(part => tiles(context, matrices[part])),
    bias: biases(context, `${path}/qkv_proj`, layer, parts),
  });
  const { queryKeyNorm, queryScale } = context.config;
  const isOperators = queryKeyNorm === 'none' || queryKeyNorm === 'head';
  if (isOperators && queryScale === undefined) return packed;
  // Norms over each head are the operator's, and would undo the scale.
  assertInvariant(queryKeyNorm !== 'head', 'queries have norms over each head or grow with their position');
  const [query, key, value] = splitQueryKeyValue(context, `${path}/qkv_proj`, packed);
  const heads = { query, key };
  const rotated = queryKeyNorm === 'rotated-head' ? rotateHeads(context, layer, path, heads) : heads;
  const norms = { ...context, positionRank: 2 } as const;
  const [normedQuery, normedKey] = queryKeyNorms(norms, layer, rotated);
  const joined = [scaleQueries(context, path, normedQuery), normedKey, value];
  return context.graph.op(`${path}/Concat`, 'Concat', joined, { attributes: { axis: int(-1) } });
}

/** Weights of the norms that the operator computes. */
function headNorms({ graph, config, weights }: KernelsContext, layer: number, path: string): string[] {
  if (config.queryKeyNorm !== 'head') return [];
  const declare = (role: HeadNorm, name: string) =>
    declareFloats(graph, weightName(`${path}/${name}`, 'weight'), [weights.headNorm(layer, role)], 'float32');
  return [declare('queryNorm', 'q_norm'), declare('keyNorm', 'k_norm')];
}

function settings({ config }: KernelsContext, layer: number): Record<string, AttributeValue> {
  const { headCount, kvHeadCount, headSize, queryKeyNorm, norm, attentionScale, attentionSoftcap } = config;
  const { rope, window } = operatorLayer(config, layer);
  return {
    heads: int(headCount),
    kv_heads: int(kvHeadCount),
    head_size: int(headSize),
    ...(queryKeyNorm === 'head' ? { epsilon: float(norm.epsilon) } : {}),
    ...(rope !== undefined && config.ropes[rope]!.isInterleaved ? { interleaved: int(1) } : {}),
    ...(window === undefined ? {} : { window: int(window) }),
    ...(attentionScale === headSize ** -0.5 ? {} : { scale: float(attentionScale) }),
    ...(attentionSoftcap === undefined ? {} : { softcap: float(attentionSoftcap) }),
  };
}
