// Scales of an int8 KV cache: one graph input, split into a row per layer and part (key, value). The engine calibrates the
// values when it loads a model.

import { CACHE_SCALES_INPUT, KV_PARTS, type KvPart } from '@ortler/engine/graph-contract';
import { int } from '@ortler/onnx';
import type { BlockContext } from './block-context.ts';

/** Name of a layer's scales. Shape: `[1, kvHeads * headSize]`. */
export function scalesName(layer: number, part: KvPart): string {
  return `scales.${layer}.${part}`;
}

/** Name of a layer's reciprocal scales, for quantisation. Shape: `[1, kvHeads * headSize]`. */
export function inverseScalesName(layer: number, part: KvPart): string {
  return `inverse_scales.${layer}.${part}`;
}

/** Name of the scales repeated for each query head of a group (GQA). Shape: `[1, heads * headSize]`. */
export function headScalesName(layer: number, part: KvPart): string {
  return `head_scales.${layer}.${part}`;
}

/** Declares the input and the rows that the context's kind of cache needs. Call it once, before the first layer. */
export function declareCacheScales(context: BlockContext): void {
  const { graph, config, cache } = context;
  if (cache === 'float') return;
  const { layerCount, kvHeadCount, headCount, headSize } = config;
  const rowCount = 2 * layerCount;
  const scales = graph.input(CACHE_SCALES_INPUT, 'float32', [rowCount, kvHeadCount * headSize]);
  if (cache === 'int8') {
    splitRows(context, 'cache_scales/Split', scales, scalesName);
    return;
  }
  // The attention operator multiplies by the same reciprocal, so both graphs round alike.
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
