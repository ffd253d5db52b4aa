// Scales of an 8-bit cache: one input of the graph, taken apart into a row for each layer and part. The engine finds their
// values when it loads a model; graphs only say where they are used.

import { CACHE_SCALES_INPUT, type KvPart } from '@ortler/engine/graph-contract';
import { int } from '@ortler/onnx';
import type { BlockContext } from './block-context.ts';

export const KV_PARTS: readonly KvPart[] = ['key', 'value'];

/** Name of a layer's scales. Shape: `[1, kvHeads * headSize]`. */
export function scalesName(layer: number, part: KvPart): string {
  return `scales.${layer}.${part}`;
}

/** What a number is multiplied with before it is rounded. Shape: `[1, kvHeads * headSize]`. */
export function inverseScalesName(layer: number, part: KvPart): string {
  return `inverse_scales.${layer}.${part}`;
}

/** The scales of the keys and values that each query head looks at. Shape: `[1, heads * headSize]`. */
export function headScalesName(layer: number, part: KvPart): string {
  return `head_scales.${layer}.${part}`;
}

/** Declares the input and what the context's way of using the cache needs of it. To be called once, before the first layer. */
export function declareCacheScales(context: BlockContext): void {
  const { graph, config, cache } = context;
  if (cache === 'plain') return;
  const { layerCount, kvHeadCount, headCount, headSize } = config;
  const rowCount = 2 * layerCount;
  const scales = graph.input(CACHE_SCALES_INPUT, 'float32', [rowCount, kvHeadCount * headSize]);
  if (cache === 'codes') {
    splitRows(context, 'cache_scales/Split', scales, scalesName);
    return;
  }
  // The operator for single tokens multiplies with this very quotient, so both round alike.
  const inverse = graph.op('cache_scales/Reciprocal', 'Reciprocal', [scales]);
  splitRows(context, 'cache_scales/Split_inverse', inverse, inverseScalesName);
  const groupSize = headCount / kvHeadCount;
  const apart = graph.constant('cache_scales/apart', 'int64', [rowCount, kvHeadCount, 1, headSize]);
  const groups = graph.constant('cache_scales/groups', 'int64', [rowCount, kvHeadCount, groupSize, headSize]);
  const joined = graph.constant('cache_scales/joined', 'int64', [rowCount, headCount * headSize]);
  const single = graph.op('cache_scales/Reshape_1', 'Reshape', [scales, apart]);
  const repeated = graph.op('cache_scales/Expand', 'Expand', [single, groups]);
  const heads = graph.op('cache_scales/Reshape_2', 'Reshape', [repeated, joined]);
  splitRows(context, 'cache_scales/Split_heads', heads, headScalesName);
}

function splitRows(
  { graph, config }: BlockContext,
  path: string,
  rows: string,
  name: (layer: number, part: KvPart) => string,
): void {
  const outputs = Array.from({ length: config.layerCount }, (_, layer) =>
    KV_PARTS.map(part => name(layer, part)),
  ).flat();
  graph.op(path, 'Split', [rows], {
    attributes: { axis: int(0), num_outputs: int(outputs.length) },
    outputs,
  });
}
