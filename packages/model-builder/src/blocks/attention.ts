// Self-attention of one layer over a KV cache that is updated in place.

import { KV_PARTS, pastName, presentName } from '@ortler/engine/graph-contract';
import { type AttributeValue, float, int, MICROSOFT } from '@ortler/onnx';
import type { DecoderConfig, LayerConfig } from '../hugging-face/decoder-config.ts';
import type { BlockContext } from './block-context.ts';
import { queryKeyNorms, splitQueryKeyValue } from './head-norm.ts';
import { linear } from './linear.ts';
import { scaleQueries } from './query-scale.ts';
import { rotaryTables } from './rotary.ts';
import { rotateHeads } from './rotate-heads.ts';
import { NO_SINKS } from './variant.ts';

/**
 * Score of an attention sink that is too low to take part in the softmax. With sinks the operator computes all scores of a
 * call before the softmax; without them it works in blocks of keys (flash attention), whose CPU kernels are not vectorised
 * and take up to half as long again (ADR 28). Cost: `batch * heads * length * capacity` floats of scores, once per session.
 */
const NO_SINK_SCORE = -1e30;

/** Declares the inputs and constants of all layers. Call it once, before the first layer. */
export function declareAttention(context: BlockContext): void {
  const { graph, config, variant } = context;
  if (!variant.lateAttentionInputs.includes(NO_SINKS)) return;
  graph.constant(NO_SINKS, 'float32', Array<number>(config.headCount).fill(NO_SINK_SCORE));
}

/**
 * ```
 *   input [..., hidden]                        ... is batch, length in slots graphs; tokens in paged graphs
 *     |
 *   qkv_proj: MatMul (+ bias)                  [..., (heads + 2 kvHeads) * headSize]
 *     |
 *   Split, q_norm, k_norm                      only with norms on queries and keys
 *     |
 *   GroupQueryAttention  <- past key, value    slots: [batch, kvHeads, capacity, headSize]
 *   or PagedAttention                          paged: [blocks, blockLength, kvHeads, headSize]
 *     |        |         <- lengths, block table, cos, sin
 *     |        +--------> present key, value   the same memory as past
 *   [..., heads * headSize]
 * ```
 * The operator rotates queries and keys, appends to the cache and applies the causal mask and the window.
 */
export function attention(context: BlockContext, layer: number, input: string): string {
  const { graph, config, variant } = context;
  const path = `/model/layers.${layer}/attn`;
  const queries = queryKeyValue(context, layer, path, input);
  const dims = variant.cacheDims(config);
  const caches = KV_PARTS.map(part => graph.input(pastName(layer, part), variant.activation, dims));
  const node = `${path}/${variant.attentionOperator}`;
  const { rope, window } = operatorLayer(config, layer);
  const tables = rope === undefined ? undefined : rotaryTables(rope);
  const output = graph.op(
    node,
    variant.attentionOperator,
    [
      ...queries,
      ...caches,
      ...variant.attentionInputs,
      tables?.cosine ?? '',
      tables?.sine ?? '',
      ...variant.lateAttentionInputs,
    ],
    {
      domain: MICROSOFT,
      attributes: {
        num_heads: int(config.headCount),
        kv_num_heads: int(config.kvHeadCount),
        ...operatorSettings(context, { rope, window }),
      },
      outputs: [`${node}/output_0`, ...KV_PARTS.map(part => presentName(layer, part))],
    },
  );
  for (const part of KV_PARTS) graph.output(presentName(layer, part), variant.activation, dims);
  return output;
}

/** What is left of a layer for the operator: no rotation where that is done before. */
export function operatorLayer(config: DecoderConfig, layer: number): LayerConfig {
  const { rope, window } = config.layers[layer]!;
  return { rope: config.queryKeyNorm === 'rotated-head' ? undefined : rope, window };
}

function operatorSettings(
  { config }: BlockContext,
  { rope, window }: LayerConfig,
): Record<string, AttributeValue> {
  const { attentionScale, attentionSoftcap, headSize, ropes } = config;
  return {
    do_rotary: int(rope === undefined ? 0 : 1),
    rotary_interleaved: int(rope !== undefined && ropes[rope]!.isInterleaved ? 1 : 0),
    ...(attentionScale === headSize ** -0.5 ? {} : { scale: float(attentionScale) }),
    ...(attentionSoftcap === undefined ? {} : { softcap: float(attentionSoftcap) }),
    ...(window === undefined ? {} : { local_window_size: int(window) }),
  };
}

/** The projection back to the residual stream. Shape: `[..., heads * headSize]` to `[..., hidden]`. */
export function attentionOutput(context: BlockContext, layer: number, input: string): string {
  const { weights } = context;
  return linear(context, {
    path: `/model/layers.${layer}/attn/o_proj`,
    input,
    matrices: [weights.matrix(layer, 'attentionOutput')],
    biases: [weights.bias(layer, 'attentionOutput') ?? []].flat(),
  });
}

/** The operator's first three inputs: packed queries, keys and values and two empty names, or three separate names. */
function queryKeyValue(
  context: BlockContext,
  layer: number,
  path: string,
  input: string,
): readonly [string, string, string] {
  const { config, weights, variant } = context;
  const parts = ['query', 'key', 'value'] as const;
  const packed = linear(context, {
    path: `${path}/qkv_proj`,
    input,
    matrices: parts.map(part => weights.matrix(layer, part)),
    biases: parts.flatMap(part => weights.bias(layer, part) ?? []),
  });
  if (config.queryKeyNorm === 'none' && config.queryScale === undefined) return [packed, '', ''];
  const [query, key, value] = splitQueryKeyValue(context, `${path}/qkv_proj`, packed);
  const norms = { ...context, positionRank: variant.positionRank };
  const heads = { query, key };
  const isRotated = config.queryKeyNorm === 'rotated-head';
  const [normedQuery, normedKey] = queryKeyNorms(
    norms,
    layer,
    isRotated ? rotateHeads(context, layer, path, heads) : heads,
  );
  return [scaleQueries(context, path, normedQuery), normedKey, value];
}
