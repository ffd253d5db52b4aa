// Multi-head latent attention of one layer by the operators of the CPU kernels, in the absorbed form: the cache holds latent rows,
// which all heads share, and each head's matrices of keys and values are multiplied with queries and results instead.

import { int } from '@ortler/onnx';
import { weightName } from '../blocks/block-context.ts';
import { rmsNorm } from '../blocks/norm.ts';
import { assertInvariant } from '../errors.ts';
import type { LATENT_NORMS } from '../hugging-face/latent-attention.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import { layerMatrices } from './decoder-matrices.ts';
import { attend } from './kernels-attention.ts';
import { type KernelsContext, multiply, type NormedInput, tiles } from './kernels-context.ts';

/**
 * ```
 *   norm, q or q_a, kv_a       Product                        [batch, length, queries | rotated | rank]
 *   norm, q_b                  Product                        only with a latent row of queries
 *   heads' keys                Product (groups)               plain channels of each head -> [.., heads * rank]
 *   queries                    rotated channels of each head, then its latent query
 *   key, which is the value    rotated channels, then the latent row after its norm
 *                              Attention <- caches, lengths   [batch, length, heads * (rotated + rank)]
 *   heads' values              Product (groups)               latent part of each head -> [.., heads * values]
 * ```
 * A score is the same sum as that of the head's own keys: `q . (W k) = (q W) . k`.
 */
export function latentAttention(context: KernelsContext, layer: number, input: NormedInput): string {
  const { graph, config, weights } = context;
  const { headCount, latent } = config;
  assertInvariant(latent !== undefined, 'latent attention');
  const { queryRank, rank, plainSize, rotatedSize } = latent;
  const path = `/model/layers.${layer}/attn`;
  const { query, queryLatent, keyValueLatent, headKeys, headValues } = layerMatrices(config, layer);
  const packed = multiply(context, `${path}/qkv_a_proj`, {
    ...input,
    matrices: [tiles(context, (queryLatent ?? query)!), tiles(context, keyValueLatent!)],
  });
  const headSize = plainSize + rotatedSize;
  const split = `${path}/qkv_a_proj/Split`;
  const sizes = [queryRank ?? headCount * headSize, rotatedSize, rank];
  const lengths = graph.constant(`${split}/lengths`, 'int64', sizes);
  const outputs = sizes.map((_, i) => `${split}/output_${i}`);
  graph.op(split, 'Split', [packed, lengths], { attributes: { axis: int(-1) }, outputs });
  const [first, rotatedKey, row] = outputs as [string, string, string];
  const norm = (role: keyof typeof LATENT_NORMS) => weights.latentNorm(layer, role);
  const queries =
    queryLatent === undefined
      ? first
      : multiply(context, `${path}/q_b_proj`, {
          input: first,
          norm: {
            weight: declareFloats(
              graph,
              weightName(`${path}/q_a_norm`, 'weight'),
              [norm('queryLatent')],
              'float32',
            ),
            epsilon: latent.epsilon,
          },
          matrices: [tiles(context, query!)],
        });
  const key = rmsNorm(context, `${path}/kv_a_norm`, row, norm('keyValueLatent'), latent.epsilon);
  const absorbed = multiply(context, `${path}/k_b_proj`, {
    input: queries,
    matrices: [tiles(context, headKeys!)],
    groups: { count: headCount, step: headSize, start: 0 },
  });
  const queriesAndKey = graph.op(
    `${path}/Concat`,
    'Concat',
    [joinHeads(context, `${path}/queries`, queries, absorbed), rotatedKey, key],
    { attributes: { axis: int(-1) } },
  );
  return multiply(context, `${path}/v_b_proj`, {
    input: attend(context, layer, queriesAndKey),
    matrices: [tiles(context, headValues!)],
    groups: { count: headCount, step: rotatedSize + rank, start: rotatedSize },
  });
}

/**
 * ```
 *   queries  [.., heads * (plain + rotated)] -> Reshape [.., heads, plain + rotated] -> Slice [.., heads, rotated]
 *   absorbed [.., heads * rank]              -> Reshape [.., heads, rank]            -> Concat, Reshape [.., heads * (rotated + rank)]
 * ```
 */
function joinHeads(
  { graph, config }: KernelsContext,
  path: string,
  queries: string,
  absorbed: string,
): string {
  const { headCount, latent } = config;
  const { rank, plainSize, rotatedSize } = latent!;
  const constant = (name: string, values: readonly number[]) =>
    graph.constant(`${path}/${name}`, 'int64', values);
  // In Reshape, 0 copies the dimension of the input.
  const apart = (name: string, value: string, size: number) =>
    graph.op(`${path}/${name}/Reshape`, 'Reshape', [
      value,
      constant(`${name}/shape`, [0, 0, headCount, size]),
    ]);
  const rotated = graph.op(`${path}/Slice`, 'Slice', [
    apart('heads', queries, plainSize + rotatedSize),
    constant('starts', [plainSize]),
    constant('ends', [plainSize + rotatedSize]),
    constant('axes', [3]),
  ]);
  const joined = graph.op(`${path}/Concat`, 'Concat', [rotated, apart('absorbed', absorbed, rank)], {
    attributes: { axis: int(-1) },
  });
  return graph.op(`${path}/Reshape`, 'Reshape', [
    joined,
    constant('joined', [0, 0, headCount * (rotatedSize + rank)]),
  ]);
}
