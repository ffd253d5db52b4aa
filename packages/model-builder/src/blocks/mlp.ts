// The gated feed-forward block (SwiGLU) of one layer.

import { int } from '@ortler/onnx';
import type { BlockContext } from './block-context.ts';
import { linear } from './linear.ts';

/**
 * ```
 *   input [..., hidden]
 *     |
 *   gate_up_proj: MatMul             [..., 2 * intermediate], one product for both
 *     |
 *   Split --- gate -- Sigmoid -+
 *     |         |              |
 *     |         +---- Mul -----+     silu(gate)
 *     up              |
 *     +------ Mul ----+
 *              |
 *   down_proj: MatMul                [..., hidden]
 * ```
 */
export function mlp(context: BlockContext, layer: number, input: string): string {
  const { graph, checkpoint, config } = context;
  const { hiddenSize, intermediateSize } = config;
  const path = `/model/layers.${layer}/mlp`;
  const name = (part: string) => `model.layers.${layer}.mlp.${part}_proj`;
  const bias = (part: string, size: number) =>
    config.mlpBias ? [checkpoint.tensor(`${name(part)}.bias`, [size])] : [];
  const parts = ['gate', 'up'] as const;
  const both = linear(context, {
    path: `${path}/gate_up_proj`,
    input,
    matrices: parts.map(part => checkpoint.tensor(`${name(part)}.weight`, [intermediateSize, hiddenSize])),
    biases: parts.flatMap(part => bias(part, intermediateSize)),
  });
  const split = `${path}/gate_up_proj/Split`;
  const lengths = graph.constant(`${split}/lengths`, 'int64', [intermediateSize, intermediateSize]);
  const [gate, up] = [`${split}/output_0`, `${split}/output_1`] as const;
  graph.op(split, 'Split', [both, lengths], { attributes: { axis: int(-1) }, outputs: [gate, up] });
  const sigmoid = graph.op(`${path}/act/Sigmoid`, 'Sigmoid', [gate]);
  const activated = graph.op(`${path}/act/Mul`, 'Mul', [gate, sigmoid]);
  const gated = graph.op(`${path}/Mul`, 'Mul', [activated, up]);
  return linear(context, {
    path: `${path}/down_proj`,
    input: gated,
    matrices: [checkpoint.tensor(`${name('down')}.weight`, [hiddenSize, intermediateSize])],
    biases: bias('down', hiddenSize),
  });
}
