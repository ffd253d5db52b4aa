// The feed-forward block of one layer.

import { int } from '@ortler/onnx';
import { activate } from './activation.ts';
import type { BlockContext } from './block-context.ts';
import { fusesGatedMlp } from './fused-products.ts';
import { linear } from './linear.ts';

/**
 * ```
 *   input [..., hidden]
 *     |
 *   gate_up_proj: MatMul             [..., 2 * intermediate], one product for both
 *     |
 *   Split --- gate -- activation
 *     |                   |
 *     up ----- Mul -------+
 *              |
 *   down_proj: MatMul                [..., hidden]
 * ```
 * Without a gate the activation is that of `up`. Where ONNX Runtime fuses them, gate and up are products of their own.
 */
export function mlp(context: BlockContext, layer: number, input: string): string {
  const { graph, config, weights } = context;
  const { isGated, activation } = config;
  const { intermediateSize } = config.layers[layer]!;
  const path = `/model/layers.${layer}/mlp`;
  const product = (name: string, parts: readonly ('gate' | 'up')[]) =>
    linear(context, {
      path: `${path}/${name}`,
      input,
      matrices: parts.map(part => weights.matrix(layer, part)),
      biases: parts.flatMap(part => weights.bias(layer, part) ?? []),
    });
  const name = isGated ? 'gate_up_proj' : 'up_proj';
  let inner: string;
  if (fusesGatedMlp(context, layer)) {
    const gate = activate(context, `${path}/act`, product('gate_proj', ['gate']), activation);
    inner = graph.op(`${path}/Mul`, 'Mul', [gate, product('up_proj', ['up'])]);
  } else if (isGated) {
    const split = `${path}/${name}/Split`;
    const lengths = graph.constant(`${split}/lengths`, 'int64', [intermediateSize, intermediateSize]);
    const [gate, up] = [`${split}/output_0`, `${split}/output_1`] as const;
    graph.op(split, 'Split', [product(name, ['gate', 'up']), lengths], {
      attributes: { axis: int(-1) },
      outputs: [gate, up],
    });
    const activated = activate(context, `${path}/act`, gate, activation);
    inner = graph.op(`${path}/Mul`, 'Mul', [activated, up]);
  } else {
    inner = activate(context, `${path}/act`, product(name, ['up']), activation);
  }
  return linear(context, {
    path: `${path}/down_proj`,
    input: inner,
    matrices: [weights.matrix(layer, 'down')],
    biases: [weights.bias(layer, 'down') ?? []].flat(),
  });
}
