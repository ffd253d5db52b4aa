// Self-attention of one layer over a KV cache that is updated in place.

import { KV_PARTS, pastName, presentName } from '@ortler/engine/graph-contract';
import { type AttributeValue, float, int, MICROSOFT } from '@ortler/onnx';
import type { DecoderConfig, LayerConfig } from '../hugging-face/decoder-config.ts';
import type { BlockContext } from './block-context.ts';
import { fusesQueryKeyValue } from './fused-products.ts';
import {
  projectedParts,
  type QueryKeyValue,
  queryKeyNorm,
  splitQueryKeyValue,
  valueNorm,
} from './head-norm.ts';
import { linear } from './linear.ts';
import { scaleQueries } from './query-scale.ts';
import { rotaryTables } from './rotary.ts';
import { rotateHeads } from './rotate-heads.ts';
import { joinSequence, splitSequence } from './sequence-dimension.ts';
import { NO_SINKS } from './variant.ts';

/**
 * Score of an attention sink that is too low to take part in the softmax. With sinks the operator computes all scores of a
 * call before the softmax; without them it works in blocks of keys (flash attention), whose CPU kernels are not vectorised
 * and take up to half as long again (ADR 28). Cost: `batch * heads * length * capacity` floats of scores, once per session.
 */
const NO_SINK_SCORE = -1e30;

export interface AttentionContext extends BlockContext {
  /** Keys and values of layers before, for layers that attend to those of another. */
  readonly keyValues: Map<number, Pick<QueryKeyValue, 'key' | 'value'>>;
}

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
 *   qkv_proj: MatMul (+ bias)                  [..., (heads + 2 kvHeads) * headSize], or three products where they are fused
 *     |
 *   Split, q_norm, k_norm                      only with norms on queries and keys
 *     |
 *   Unsqueeze [1, tokens, ...]                 only in device-slots graphs, and Squeeze after the attention
 *     |
 *   GroupQueryAttention  <- past key, value    slots, device-slots: [batch, kvHeads, capacity, headSize]
 *   or PagedAttention                          paged: [blocks, blockLength, kvHeads, headSize]
 *     |        |         <- lengths, block table, cos, sin
 *     |        +--------> present key, value   the same memory as past
 *   [..., heads * headSize]
 * ```
 * The operator rotates queries and keys, appends to the cache and applies the causal mask and the window.
 */
export function attention(context: AttentionContext, layer: number, input: string): string {
  const { graph, config, variant } = context;
  const path = `/model/layers.${layer}/attn`;
  const queries = queryKeyValue(context, layer, path, input).map((value, i) =>
    value === '' ? value : splitSequence(context, `${path}/input_${i}`, value),
  );
  const own = operatorLayer(config, layer);
  const dims = variant.cacheDims(own, context.kvType);
  const caches = KV_PARTS.map(part => graph.input(pastName(layer, part), variant.activation, dims));
  const node = `${path}/${variant.attentionOperator}`;
  const tables = own.rope === undefined ? undefined : rotaryTables(own.rope);
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
        kv_num_heads: int(own.kvHeadCount),
        ...operatorSettings(context, own),
      },
      outputs: [`${node}/output_0`, ...KV_PARTS.map(part => presentName(layer, part))],
    },
  );
  for (const part of KV_PARTS) graph.output(presentName(layer, part), variant.activation, dims);
  return joinSequence(context, `${path}/output`, output);
}

/** What is left of a layer for the operator: no rotation where that is done before. */
export function operatorLayer(config: DecoderConfig, layer: number): LayerConfig {
  const own = config.layers[layer]!;
  return config.queryKeyNorm === 'rotated-head' ? { ...own, rope: undefined } : own;
}

function operatorSettings(
  { config }: BlockContext,
  { rope, window, headSize }: LayerConfig,
): Record<string, AttributeValue> {
  const { attentionScale = headSize ** -0.5, attentionSoftcap, ropes } = config;
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
  context: AttentionContext,
  layer: number,
  path: string,
  input: string,
): readonly [string, string, string] {
  const { config, weights, variant, keyValues } = context;
  const parts = projectedParts(config, layer);
  const apart = fusesQueryKeyValue(context, layer);
  const project = (name: string, own: typeof parts) =>
    linear(context, {
      path: `${path}/${name}`,
      input,
      matrices: own.map(part => weights.matrix(layer, part)),
      biases: own.flatMap(part => weights.bias(layer, part) ?? []),
    });
  const packed = apart ? '' : project('qkv_proj', parts);
  const norms = { ...context, positionRank: variant.positionRank };
  const query = (value: string) =>
    scaleQueries(context, path, queryKeyNorm(norms, layer, 'queryNorm', value));
  const { kvSource, valuesAreKeys } = config.layers[layer]!;
  if (kvSource !== undefined) {
    const { key, value } = keyValues.get(kvSource)!;
    return [query(packed), key, value];
  }
  const isPlain = config.queryKeyNorm === 'none' && config.queryScale === undefined && !config.normsValues;
  if (isPlain && !valuesAreKeys && !apart) return [packed, '', ''];
  const split = apart
    ? {
        query: project('q_proj', ['query']),
        key: project('k_proj', ['key']),
        value: project('v_proj', ['value']),
      }
    : splitQueryKeyValue(context, layer, `${path}/qkv_proj`, packed);
  const rotated = config.queryKeyNorm === 'rotated-head' ? rotateHeads(context, layer, path, split) : split;
  const key = queryKeyNorm(norms, layer, 'keyNorm', rotated.key);
  const value = valueNorm(norms, layer, split.value);
  keyValues.set(layer, { key, value });
  return [query(rotated.query), key, value];
}
