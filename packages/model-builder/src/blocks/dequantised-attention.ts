// Prefill attention over an int8 KV cache. The graph dequantises the cache once per call, where ONNX Runtime's operator
// dequantises it again for each token of the prompt (ADR 33). Caller: `attention.ts`.

import {
  KV_PARTS,
  type KvPart,
  pastName,
  presentName,
  SLOTS_INPUT,
  scaledName,
  sharedName,
  WIDENED_INPUT,
  widenedName,
} from '@ortler/engine/graph-contract';
import { ELEMENT_TYPES, int, ints, MICROSOFT } from '@ortler/onnx';
import type { BlockContext } from './block-context.ts';
import { headScalesName, inverseScalesName } from './cache-scales.ts';
import { ROTARY_TABLES } from './rotary.ts';
import { DYNAMIC_DIMS, NO_SINKS } from './variant.ts';

/** Opset of standard ONNX with `TensorScatter`, which writes into the cache in place. */
export const TENSOR_SCATTER_OPSET = 24;

/** Names of the values shared by all layers. */
const SHARED = {
  /** Position of the first token of the call. Shape: `[1]`. */
  start: 'widened/start',
  cacheBegin: 'widened/cache_begin',
  positionAxis: 'widened/position_axis',
  apart: 'widened/heads_apart',
  one: 'widened/one',
  zeroPoint: 'widened/zero_point',
  noTokens: 'widened/no_tokens',
} as const;

/** Declares the input and the shared values. Call it once, before the first layer. */
export function declareDequantisedAttention({ graph, config }: BlockContext): void {
  const { kvHeadCount, headSize } = config;
  graph.input(WIDENED_INPUT.length, 'int64', [1]);
  const one = graph.constant('widened/one_token', 'int64', [1]);
  const last = graph.op('widened/Cast', 'Cast', [SLOTS_INPUT.lastPositions], {
    attributes: { to: int(ELEMENT_TYPES.int64.onnxType) },
  });
  const end = graph.op('widened/Add', 'Add', [last, one]);
  const length = graph.op('widened/Shape', 'Shape', [SLOTS_INPUT.inputIds], {
    attributes: { start: int(1), end: int(2) },
  });
  graph.op('widened/Sub', 'Sub', [end, length], { outputs: [SHARED.start] });
  graph.constant(SHARED.cacheBegin, 'int64', [0]);
  graph.constant(SHARED.positionAxis, 'int64', [2]);
  graph.constant(SHARED.apart, 'int64', [1, -1, kvHeadCount, headSize]);
  graph.constant(SHARED.one, 'float32', [1]);
  graph.constant(SHARED.zeroPoint, 'int8', [0]);
  const empty = graph.constant('widened/empty', 'int64', [1, 0, kvHeadCount * headSize]);
  graph.op('widened/ConstantOfShape', 'ConstantOfShape', [empty], { outputs: [SHARED.noTokens] });
}

/** Projections of a layer, after query and key norms if the model has them. Shape: `[1, length, heads * headSize]` each. */
export interface ProjectedTokens {
  readonly query: string;
  readonly key: string;
  readonly value: string;
}

/**
 * ```
 *   key -> RotaryEmbedding      value
 *             |                   |
 *   each:    Mul 1 / scale                      scaled
 *             |
 *            QuantizeLinear, Transpose          codes int8 [1, kvHeads, length, headSize]
 *             |
 *            TensorScatter      <- past         present: the same memory
 *             |
 *            Slice, Cast                        float32 [1, kvHeads, cached length, headSize], without the scale
 *             |
 *   GroupQueryAttention         <- query * scale of keys; no new tokens, because they are in the cache already
 *             |
 *            Mul scale of values                [1, length, heads * headSize]
 * ```
 * The cast leaves out the scales. Those of keys are applied to the query, before its rotation, which is exact because channels
 * that rotate together share a scale; those of values are applied to the output.
 */
export function dequantisedAttention(
  context: BlockContext,
  layer: number,
  path: string,
  { query, key, value }: ProjectedTokens,
): string {
  const { graph, config, variant } = context;
  const present = appendTokens(context, layer, path, { key, value });
  const cached = KV_PARTS.map(part => castCache(context, layer, `${path}/${part}`, part, present[part]));
  const scaledQuery = graph.op(`${path}/ScaleQuery`, 'Mul', [query, headScalesName(layer, 'key')]);
  const node = `${path}/GroupQueryAttention`;
  const output = graph.op(
    node,
    'GroupQueryAttention',
    [
      scaledQuery,
      SHARED.noTokens,
      SHARED.noTokens,
      ...cached,
      ...variant.attentionInputs,
      ROTARY_TABLES.cosine,
      ROTARY_TABLES.sine,
      // Position ids and an attention bias, which are not used.
      '',
      '',
      NO_SINKS,
    ],
    {
      domain: MICROSOFT,
      attributes: {
        num_heads: int(config.headCount),
        kv_num_heads: int(config.kvHeadCount),
        do_rotary: int(1),
        rotary_interleaved: int(0),
      },
      outputs: [`${node}/output_0`, ...KV_PARTS.map(part => sharedName(layer, part))],
    },
  );
  const dims = [1, config.kvHeadCount, DYNAMIC_DIMS.cached, config.headSize];
  for (const part of KV_PARTS) graph.output(sharedName(layer, part), 'float32', dims);
  return graph.op(`${path}/ScaleOutput`, 'Mul', [output, headScalesName(layer, 'value')]);
}

/** The upper half: quantises keys and values and writes them into the cache. Returns the names of the caches. */
export function appendTokens(
  context: BlockContext,
  layer: number,
  path: string,
  { key, value }: Omit<ProjectedTokens, 'query'>,
): Readonly<Record<KvPart, string>> {
  const { graph, config } = context;
  const rotated = graph.op(
    `${path}/RotaryEmbedding`,
    'RotaryEmbedding',
    [key, SHARED.start, ROTARY_TABLES.cosine, ROTARY_TABLES.sine],
    { domain: MICROSOFT, attributes: { num_heads: int(config.kvHeadCount) } },
  );
  const append = (part: KvPart, numbers: string) =>
    appendPart(context, layer, `${path}/${part}`, part, numbers);
  return { key: append('key', rotated), value: append('value', value) };
}

function appendPart(
  { graph, config, variant }: BlockContext,
  layer: number,
  path: string,
  part: KvPart,
  numbers: string,
): string {
  const cacheDims = variant.cacheDims(config);
  const past = graph.input(pastName(layer, part), 'int8', cacheDims);
  const scaled = graph.op(`${path}/Mul`, 'Mul', [numbers, inverseScalesName(layer, part)], {
    outputs: [scaledName(layer, part)],
  });
  graph.output(scaled, 'float32', [1, DYNAMIC_DIMS.length, config.kvHeadCount * config.headSize]);
  const codes = graph.op(`${path}/QuantizeLinear`, 'QuantizeLinear', [scaled, SHARED.one, SHARED.zeroPoint]);
  const heads = graph.op(`${path}/Reshape`, 'Reshape', [codes, SHARED.apart]);
  const rows = graph.op(`${path}/Transpose`, 'Transpose', [heads], {
    attributes: { perm: ints([0, 2, 1, 3]) },
  });
  const present = graph.op(`${path}/TensorScatter`, 'TensorScatter', [past, rows, SHARED.start], {
    attributes: { axis: int(2) },
    outputs: [presentName(layer, part)],
  });
  graph.output(present, 'int8', cacheDims);
  return present;
}

/** Casts all cached keys or values of a layer to float32, without their scales. */
function castCache(
  { graph, config }: BlockContext,
  layer: number,
  path: string,
  part: KvPart,
  present: string,
): string {
  const used = graph.op(`${path}/Slice`, 'Slice', [
    present,
    SHARED.cacheBegin,
    WIDENED_INPUT.length,
    SHARED.positionAxis,
  ]);
  const cast = graph.op(`${path}/Cast`, 'Cast', [used], {
    attributes: { to: int(ELEMENT_TYPES.float32.onnxType) },
    outputs: [widenedName(layer, part)],
  });
  graph.output(cast, 'float32', [1, config.kvHeadCount, DYNAMIC_DIMS.cached, config.headSize]);
  return cast;
}
