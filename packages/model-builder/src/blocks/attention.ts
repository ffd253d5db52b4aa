// Self-attention of one layer over a key and value cache that the operator updates in place.

import { type KvPart, pastName, presentName, SLOTS_INPUT } from '@ortler/engine/graph-contract';
import { int, MICROSOFT } from '../onnx/graph.ts';
import type { BlockContext } from './block-context.ts';
import { linear } from './linear.ts';
import { rmsNorm } from './rms-norm.ts';
import { ROTARY_TABLES } from './rotary.ts';
import { toRows, toSequences } from './token-rows.ts';

/** Names of the graph's dimensions that are known only at run time. */
export const DYNAMIC_DIMS = {
  batch: 'batch',
  length: 'length',
  capacity: 'capacity',
  rows: 'row_count',
} as const;

/**
 * A score that no key can be as low as: each head's sink, which takes no part in its softmax. With sinks the operator
 * computes all scores of a call and then their softmax; its other way, in blocks of keys, has kernels without vector
 * instructions and takes up to a half longer (ADR 28). Price: memory for the scores,
 * `batch * heads * length * capacity` floats, once per session.
 */
const NO_SINK_SCORE = -1e30;
const NO_SINKS = 'model.attention.no_sinks';

/** Declares what all attentions share. To be called once, before the first layer. */
export function declareAttention({ graph, config }: BlockContext): void {
  graph.constant(NO_SINKS, 'float32', Array<number>(config.headCount).fill(NO_SINK_SCORE));
}

/**
 * ```
 *   input [batch, length, hidden]              or [1, batch * length, hidden] with integer products
 *     |
 *   qkv_proj: MatMul (+ bias)                  [batch, length, (heads + 2 kvHeads) * headSize]
 *     |
 *   Split, q_norm, k_norm                      only with norms on queries and keys
 *     |
 *   GroupQueryAttention  <- past key, value    [batch, kvHeads, capacity, headSize]
 *     |        |         <- seqlens_k, total_sequence_length, cos, sin
 *     |        +--------> present key, value   the same memory as past
 *   [batch, length, heads * headSize]          or rows again
 * ```
 * The operator rotates queries and keys, appends to the cache and applies the causal limit.
 */
export function attention(context: BlockContext, layer: number, input: string): string {
  const { graph } = context;
  const { headCount, kvHeadCount } = context.config;
  const path = `/model/layers.${layer}/attn`;
  const caches = (['key', 'value'] as const).map(part => declareCache(context, layer, part));
  const node = `${path}/GroupQueryAttention`;
  const output = graph.op(
    node,
    'GroupQueryAttention',
    [
      ...queryKeyValue(context, layer, path, input),
      ...caches,
      SLOTS_INPUT.lastPositions,
      SLOTS_INPUT.totalLength,
      ROTARY_TABLES.cosine,
      ROTARY_TABLES.sine,
      // Position ids and a bias of the scores, which we do not use.
      '',
      '',
      NO_SINKS,
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
  for (const part of ['key', 'value'] as const) {
    graph.output(presentName(layer, part), 'float32', cacheDims(context));
  }
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
 *   [batch, length, heads * headSize] -> Reshape [batch, length, heads, headSize] -> norm -> Reshape back
 * ```
 */
function headNorm(
  context: BlockContext,
  layer: number,
  { kind, value, headCount }: { kind: 'q' | 'k'; value: string; headCount: number },
): string {
  const { graph, config } = context;
  const path = `/model/layers.${layer}/attn/${kind}_norm`;
  // Zero copies the input's dimension.
  const apart = graph.constant(`${path}/heads_apart`, 'int64', [0, 0, headCount, config.headSize]);
  const joined = graph.constant(`${path}/heads_joined`, 'int64', [0, 0, headCount * config.headSize]);
  const heads = graph.op(`${path}/Reshape_1`, 'Reshape', [value, apart]);
  const weight = `model.layers.${layer}.self_attn.${kind}_norm.weight`;
  const normed = rmsNorm(context, path, heads, weight, config.headSize);
  return graph.op(`${path}/Reshape_2`, 'Reshape', [normed, joined]);
}

function declareCache(context: BlockContext, layer: number, part: KvPart): string {
  return context.graph.input(pastName(layer, part), 'float32', cacheDims(context));
}

function cacheDims({ config }: BlockContext): readonly (number | string)[] {
  return [DYNAMIC_DIMS.batch, config.kvHeadCount, DYNAMIC_DIMS.capacity, config.headSize];
}
