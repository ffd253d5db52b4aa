// The gated feed-forward block of one layer in W8A8 (dynamic int8 quantisation). Caller: `mlp.ts`.

import { declareFloats } from '../weights/declare-weights.ts';
import type { WrittenRows } from '../weights/written-matrix.ts';
import { type BlockContext, weightName } from './block-context.ts';
import { int8MatMul, layerSource, quantiseActivations } from './dynamic-int8-matmul.ts';

/**
 * ```
 *   input [..., rows, hidden]
 *     |
 *   quantise ------------------ scale
 *     |          |                |
 *   gate_proj  up_proj            |       [..., rows, intermediate], without the scale
 *     |          |                |
 *    Mul ------- | ---------------+       gate
 *     |          |                |
 *    silu        |                |
 *     +-- Mul ---+                |
 *          |                      |
 *       quantise -- scale -- Mul -+       the scale that `up` still lacks
 *          |                  |
 *       down_proj            Mul          [..., rows, hidden]
 * ```
 * The scale of a row can be applied late, because rows are quantised relative to their largest magnitude; but not with
 * biases.
 */
export function int8Mlp(context: BlockContext, layer: number, input: string): string {
  const { graph, checkpoint, config } = context;
  const { hiddenSize, intermediateSize, mlpBias } = config;
  const path = `/model/layers.${layer}/mlp`;
  const sizes = { gate: intermediateSize, up: intermediateSize, down: hiddenSize };
  type Part = keyof typeof sizes;
  // The weight-only graph has one product for both: see `mlp`.
  const both = weightName(`${path}/gate_up_proj`, 'weight');
  const codesOf: Readonly<Record<Part, WrittenRows>> = {
    gate: { name: both, firstRow: 0 },
    up: { name: both, firstRow: intermediateSize },
    down: { name: weightName(`${path}/down_proj`, 'weight'), firstRow: 0 },
  };
  const multiply = (part: Part, codes: string, width: number): string => {
    const partPath = `${path}/${part}_proj`;
    const tensor = checkpoint.tensor(`model.layers.${layer}.mlp.${part}_proj.weight`, [sizes[part], width]);
    return int8MatMul(context, {
      path: partPath,
      codes,
      name: weightName(partPath, 'weight'),
      matrices: [tensor],
      source: layerSource(context, codesOf[part]),
    });
  };
  const scaled = (part: Part, product: string, scale: string): string => {
    const partPath = `${path}/${part}_proj`;
    const value = graph.op(`${partPath}/Mul`, 'Mul', [product, scale]);
    if (!mlpBias) return value;
    const tensor = checkpoint.tensor(`model.layers.${layer}.mlp.${part}_proj.bias`, [sizes[part]]);
    return graph.op(`${partPath}/Add`, 'Add', [
      value,
      declareFloats(graph, weightName(partPath, 'bias'), [tensor], 'float32'),
    ]);
  };

  const rows = quantiseActivations(context, `${path}/input`, input);
  const gate = scaled('gate', multiply('gate', rows.codes, hiddenSize), rows.scale);
  const product = multiply('up', rows.codes, hiddenSize);
  const up = mlpBias ? scaled('up', product, rows.scale) : product;
  const sigmoid = graph.op(`${path}/act/Sigmoid`, 'Sigmoid', [gate]);
  const activated = graph.op(`${path}/act/Mul`, 'Mul', [gate, sigmoid]);
  const gated = quantiseActivations(
    context,
    `${path}/gated`,
    graph.op(`${path}/Mul`, 'Mul', [activated, up]),
  );
  const scale = mlpBias ? gated.scale : graph.op(`${path}/Scale`, 'Mul', [gated.scale, rows.scale]);
  return scaled('down', multiply('down', gated.codes, intermediateSize), scale);
}
