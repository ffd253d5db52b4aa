// Self-attention of one layer over a KV cache that is updated in place.

import { KV_PARTS, pastName, presentName } from '@ortler/engine/graph-contract';
import { int, MICROSOFT } from '@ortler/onnx';
import type { BlockContext } from './block-context.ts';
import { linear } from './linear.ts';
import { rmsNorm } from './rms-norm.ts';
import { ROTARY_TABLES } from './rotary.ts';
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
 * The operator rotates queries and keys, appends to the cache and applies the causal mask.
 */
export function attention(context: BlockContext, layer: number, input: string): string {
  const { graph, config, variant } = context;
  const path = `/model/layers.${layer}/attn`;
  const queries = queryKeyValue(context, layer, path, input);
  const dims = variant.cacheDims(config);
  const caches = KV_PARTS.map(part => graph.input(pastName(layer, part), variant.activation, dims));
  const node = `${path}/${variant.attentionOperator}`;
  const output = graph.op(
    node,
    variant.attentionOperator,
    [
      ...queries,
      ...caches,
      ...variant.attentionInputs,
      ROTARY_TABLES.cosine,
      ROTARY_TABLES.sine,
      ...variant.lateAttentionInputs,
    ],
    {
      domain: MICROSOFT,
      attributes: {
        num_heads: int(config.headCount),
        kv_num_heads: int(config.kvHeadCount),
        do_rotary: int(1),
        rotary_interleaved: int(0),
      },
      outputs: [`${node}/output_0`, ...KV_PARTS.map(part => presentName(layer, part))],
    },
  );
  for (const part of KV_PARTS) graph.output(presentName(layer, part), variant.activation, dims);
  return output;
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

/** The operator's first three inputs: packed queries, keys and values and two empty names, or three separate names. */
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
  const packed = linear(context, {
    path: `${path}/qkv_proj`,
    input,
    matrices: parts.map(part => checkpoint.tensor(`${name(part)}.weight`, [sizes[part], hiddenSize])),
    biases: config.qkvBias ? parts.map(part => checkpoint.tensor(`${name(part)}.bias`, [sizes[part]])) : [],
  });
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
  // In Reshape, 0 copies the dimension of the input.
  const kept = Array.from({ length: variant.positionRank }, () => 0);
  const apart = graph.constant(`${path}/heads_apart`, 'int64', [...kept, headCount, config.headSize]);
  const joined = graph.constant(`${path}/heads_joined`, 'int64', [...kept, headCount * config.headSize]);
  const heads = graph.op(`${path}/Reshape_1`, 'Reshape', [value, apart]);
  const weight = `model.layers.${layer}.self_attn.${kind}_norm.weight`;
  const normed = rmsNorm(context, path, heads, weight, config.headSize);
  return graph.op(`${path}/Reshape_2`, 'Reshape', [normed, joined]);
}
