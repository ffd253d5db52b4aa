// Self-attention of one layer over a key and value cache that the operator updates in place.

import { pastName, presentName } from '@ortler/engine/graph-contract';
import { int, MICROSOFT } from '../onnx/graph.ts';
import type { BlockContext } from './block-context.ts';
import { linear } from './linear.ts';
import { rmsNorm } from './rms-norm.ts';
import { ROTARY_TABLES } from './rotary.ts';
import { toRows, toSequences } from './token-rows.ts';
import { NO_SINKS } from './variant.ts';

/**
 * A score that no key can be as low as: each head's sink, which takes no part in its softmax. With sinks the operator
 * computes all scores of a call and then their softmax; its other way, in blocks of keys, has kernels without vector
 * instructions and takes up to a half longer (ADR 28). Price: memory for the scores,
 * `batch * heads * length * capacity` floats, once per session.
 */
const NO_SINK_SCORE = -1e30;

/** Declares what all attentions share. To be called once, before the first layer. */
export function declareAttention({ graph, config, variant }: BlockContext): void {
  if (!variant.lateAttentionInputs.includes(NO_SINKS)) return;
  graph.constant(NO_SINKS, 'float32', Array<number>(config.headCount).fill(NO_SINK_SCORE));
}

/**
 * ```
 *   input [..., hidden]                        ... is batch, length in slots graphs, 1, batch * length with integer
 *                                              products, tokens in paged graphs
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
 * The operator rotates queries and keys, appends to the cache and applies the causal limit.
 */
export function attention(context: BlockContext, layer: number, input: string): string {
  const { graph, variant } = context;
  const { headCount, kvHeadCount } = context.config;
  const path = `/model/layers.${layer}/attn`;
  const dims = variant.cacheDims(context.config);
  const parts = ['key', 'value'] as const;
  const caches = parts.map(part => graph.input(pastName(layer, part), variant.activation, dims));
  const node = `${path}/${variant.attentionOperator}`;
  const output = graph.op(
    node,
    variant.attentionOperator,
    [
      ...queryKeyValue(context, layer, path, input),
      ...caches,
      ...variant.attentionInputs,
      ROTARY_TABLES.cosine,
      ROTARY_TABLES.sine,
      ...variant.lateAttentionInputs,
    ],
    {
      domain: MICROSOFT,
      attributes: {
        num_heads: int(headCount),
        kv_num_heads: int(kvHeadCount),
        do_rotary: int(1),
        rotary_interleaved: int(0),
      },
      outputs: [`${node}/output_0`, presentName(layer, 'key'), presentName(layer, 'value')],
    },
  );
  for (const part of parts) graph.output(presentName(layer, part), variant.activation, dims);
  return toRows(context, path, output, headCount * context.config.headSize);
}

/** The projection back to the residual stream. Shape: `[..., heads * headSize]` to `[..., hidden]`. */
export function attentionOutput(context: BlockContext, layer: number, input: string): string {
  const { checkpoint, config } = context;
  const name = `model.layers.${layer}.self_attn.o_proj`;
  return linear(context, {
    path: `/model/layers.${layer}/attn/o_proj`,
    input,
    matrices: [checkpoint.tensor(`${name}.weight`, [config.hiddenSize, config.headCount * config.headSize])],
    biases: config.attentionOutputBias ? [checkpoint.tensor(`${name}.bias`, [config.hiddenSize])] : [],
  });
}

/** The operator's first three inputs: packed queries, keys and values, or the three apart. */
function queryKeyValue(
  context: BlockContext,
  layer: number,
  path: string,
  input: string,
): readonly [string, string, string] {
  const { graph, checkpoint, config } = context;
  const { headCount, kvHeadCount, headSize, hiddenSize } = config;
  const sizes = { q: headCount * headSize, k: kvHeadCount * headSize, v: kvHeadCount * headSize };
  const parts = ['q', 'k', 'v'] as const;
  const name = (part: 'q' | 'k' | 'v') => `model.layers.${layer}.self_attn.${part}_proj`;
  const rows = linear(context, {
    path: `${path}/qkv_proj`,
    input,
    matrices: parts.map(part => checkpoint.tensor(`${name(part)}.weight`, [sizes[part], hiddenSize])),
    biases: config.qkvBias ? parts.map(part => checkpoint.tensor(`${name(part)}.bias`, [sizes[part]])) : [],
  });
  const packed = toSequences(context, path, rows);
  if (!config.queryKeyNorm) return [packed, '', ''];
  const split = `${path}/qkv_proj/Split`;
  const lengths = graph.constant(
    `${split}/lengths`,
    'int64',
    parts.map(part => sizes[part]),
  );
  const [q, k, v] = parts.map((_, i) => `${split}/output_${i}`) as [string, string, string];
  graph.op(split, 'Split', [packed, lengths], { attributes: { axis: int(-1) }, outputs: [q, k, v] });
  return [
    headNorm(context, layer, { kind: 'q', value: q, headCount }),
    headNorm(context, layer, { kind: 'k', value: k, headCount: kvHeadCount }),
    v,
  ];
}

/**
 * ```
 *   [..., heads * headSize] -> Reshape [..., heads, headSize] -> norm -> Reshape back
 * ```
 */
function headNorm(
  context: BlockContext,
  layer: number,
  { kind, value, headCount }: { kind: 'q' | 'k'; value: string; headCount: number },
): string {
  const { graph, config, variant } = context;
  const path = `/model/layers.${layer}/attn/${kind}_norm`;
  // Zero copies the input's dimension.
  const kept = Array.from({ length: variant.positionRank }, () => 0);
  const apart = graph.constant(`${path}/heads_apart`, 'int64', [...kept, headCount, config.headSize]);
  const joined = graph.constant(`${path}/heads_joined`, 'int64', [...kept, headCount * config.headSize]);
  const heads = graph.op(`${path}/Reshape_1`, 'Reshape', [value, apart]);
  const weight = `model.layers.${layer}.self_attn.${kind}_norm.weight`;
  const normed = rmsNorm(context, path, heads, weight, config.headSize);
  return graph.op(`${path}/Reshape_2`, 'Reshape', [normed, joined]);
}
